import subprocess
import sys
from pathlib import Path

SETTLE = "import sys; from avatar_cli.cli.streams import settle_streams; settle_streams(); "


def python(code, shell_words, **options):
    command = f'exec "$0" -c "$1" {shell_words}'
    return subprocess.run(["sh", "-c", command, sys.executable, code], timeout=60, check=False, **options)


def test_talk_that_cannot_be_written_is_dropped():
    code = SETTLE + "[print('a' * 5000, file=sys.stderr, flush=True) for _ in range(9)]; print('done')"
    result = python(code, "2>/dev/full", stdout=subprocess.PIPE)
    assert (result.returncode, result.stdout) == (0, b"done\n")


def test_talk_that_nobody_reads_is_dropped():
    code = SETTLE + "import time; time.sleep(0.3); print('a', file=sys.stderr); print('done')"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stderr.close()
    assert process.stdout.read() == b"done\n"
    assert process.wait(60) == 0


def test_what_is_said_to_a_closed_stream_does_not_land_in_a_file(tmp_path):
    path = tmp_path / "file"
    code = (
        SETTLE
        + f"file = open({str(path)!r}, 'w'); print('out'); print('talk', file=sys.stderr); file.close()"
    )
    result = python(code, "0<&- >&- 2>&-")
    assert result.returncode == 0
    assert Path(path).read_text() == ""
