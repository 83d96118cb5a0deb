"""When this process began, on the clock of the events."""

import os
import time
from pathlib import Path

from avatar_cli.protocol.events import now

_STARTTIME = 22  # number of the field in /proc/PID/stat, counted from one


def process_start() -> float:
    """The moment the command was started, to a hundredth of a second; now where the system has no /proc."""
    try:
        stat = Path("/proc/self/stat").read_text()
    except FileNotFoundError:
        return now()
    after_name = stat.rpartition(")")[2].split()  # the name may hold spaces; the third field follows it
    started = int(after_name[_STARTTIME - 3]) / os.sysconf("SC_CLK_TCK")
    return now() - (time.clock_gettime(time.CLOCK_BOOTTIME) - started)
