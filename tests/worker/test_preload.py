import os
import subprocess
import sys

from avatar_cli.launch.agent_process import SESSION
from avatar_cli.worker.preload import MODULES

SCRIPT = """
import importlib, os, sys
for module in sys.argv[1:]:
    importlib.import_module(module)
print(len(os.listdir("/proc/self/task")))
"""


def test_what_is_imported_before_the_fork_starts_no_thread():
    one_thread_pools = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SCRIPT, *MODULES, "torch.distributed.launcher.api", SESSION]
    assert subprocess.check_output(command, text=True, env=os.environ | one_thread_pools) == "1\n"
