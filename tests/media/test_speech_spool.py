"""Recordings that arrive through a pipe: kept, waited for, decoded as they come, and nothing left of them."""

import os
import pty
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import psutil
import pytest

from avatar_cli.media import speech_spool
from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.media.input_path import STDIN
from avatar_cli.media.speech_in import SpeechDecoder, probe_speech
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.media.speech_spool import SpeechSpool, SpoolReader, open_spool
from avatar_cli.protocol.errors import EnvironmentProblem, InputError, UsageError
from tests.media.test_sound_kind import IN_ORDER, NOT_IN_ORDER, encode

STDIN_FD = 0
PATIENCE = 60.0  # seconds; for a machine that does other things as well


class Arriving:
    """A spool that the test fills."""

    def __init__(self):
        source, self.sink = os.pipe()
        self.spool = SpeechSpool(source, "stdin")

    def write(self, data):
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self.sink, rest) :]

    def end(self):
        os.close(self.sink)
        self.sink = -1

    def close(self):
        self.spool.close()
        if self.sink >= 0:
            os.close(self.sink)


@pytest.fixture
def arriving():
    arriving = Arriving()
    yield arriving
    arriving.close()


def in_thread(work):
    """Start `work`; returns a function that waits for its result."""
    results = []

    def run():
        try:
            results.append(work())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def result():
        thread.join(PATIENCE)
        assert results, "it still waits"
        return results[0]

    result.waits = thread.is_alive
    return result


def samples_of(path, spool=None):
    decoder = SpeechDecoder(path, spool)
    samples = np.concatenate(list(decoder.blocks()))
    decoder.close()
    return samples, decoder.warnings


def test_readers_get_every_byte_and_the_end(arriving):
    reader = SpoolReader(arriving.spool.path, "stdin")
    whole = in_thread(lambda: reader.read_fully(0, 10**9))
    arriving.write(b"first ")
    assert SpoolReader(arriving.spool.path, "stdin").read(0, 100) == b"first "
    time.sleep(0.1)
    assert whole.waits()
    arriving.write(b"second")
    arriving.end()
    assert whole() == b"first second"
    late = SpoolReader(arriving.spool.path, "stdin")
    late.wait_for_end()
    assert late.read_fully(6, 100) == b"second"
    assert late.read(12, 1) == b""


def test_a_reader_sleeps_while_it_waits(arriving):
    reader = SpoolReader(arriving.spool.path, "stdin")
    before = time.process_time()
    waiting = in_thread(lambda: reader.read(0, 1))
    time.sleep(1.0)
    assert time.process_time() - before < 0.1
    arriving.write(b"x")
    assert waiting() == b"x"


def test_a_spool_that_closes_early_is_no_end(arriving):
    arriving.write(b"half of it")
    reader = SpoolReader(arriving.spool.path, "stdin")
    rest = in_thread(lambda: reader.read_fully(0, 1000))
    ending = in_thread(reader.wait_for_end)
    time.sleep(0.1)
    arriving.spool.close()
    for result in (rest(), ending()):
        assert isinstance(result, EnvironmentProblem)
        assert "stdin broke off" in result.message
    arriving.spool = SpeechSpool(os.open(os.devnull, os.O_RDONLY), "stdin")


WRITER = """
import os, sys, time
from avatar_cli.media.speech_spool import SpeechSpool
spool = SpeechSpool(os.dup(0), "stdin")
print(spool.path, flush=True)
time.sleep(60)
"""


def test_readers_notice_the_death_of_the_writer_and_nothing_is_left(tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    path = Path(writer.stdout.readline().decode().strip())
    writer.stdin.write(b"half of it")
    writer.stdin.flush()
    reader = SpoolReader(path, "stdin")
    assert reader.read_fully(0, 10) == b"half of it"
    assert os.fstat(reader.fd).st_nlink == 0
    assert list(tmp_path.iterdir()) == []
    waiting = in_thread(lambda: reader.read(10, 1))
    time.sleep(0.2)
    assert waiting.waits()
    writer.kill()
    assert isinstance(waiting(), EnvironmentProblem)
    writer.communicate()
    with pytest.raises(EnvironmentProblem, match="broke off"):
        SpoolReader(path, "stdin")
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_nobody_elses(arriving):
    reader = SpoolReader(arriving.spool.path, "stdin")
    assert stat.S_IMODE(os.fstat(reader.fd).st_mode) & 0o077 == 0


FULL = """
import os, resource, signal, sys, time
from avatar_cli.media.speech_spool import SpeechSpool
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # as a full disk: a write is refused
spool = SpeechSpool(os.open("/dev/zero", os.O_RDONLY), "stdin")
while spool.fault is None:
    time.sleep(0.01)
print(type(spool.fault).__name__, spool.fault.message)
"""


def test_a_full_folder_is_told_in_one_sentence():
    done = subprocess.run([sys.executable, "-c", FULL], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.startswith("EnvironmentProblem The speech from stdin does not fit into the folder for")
    assert done.stdout.count("\n") == 1
    assert "TMPDIR" in done.stdout


def test_no_folder_for_temporary_files_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(EnvironmentProblem, match=r"cannot be kept in .* set TMPDIR"):
        SpeechSpool(os.open(os.devnull, os.O_RDONLY), "stdin")


def test_a_system_without_the_locks_is_told(monkeypatch):
    monkeypatch.delattr(speech_spool.fcntl, "F_OFD_SETLK")
    with pytest.raises(
        EnvironmentProblem, match=r"A speech from stdin needs /proc .* save it to a file first"
    ):
        SpeechSpool(os.open(os.devnull, os.O_RDONLY), "stdin")


def test_files_are_not_spooled_and_pipes_are(write_wav, tmp_path):
    assert open_spool(write_wav("speech.wav", 10)) is None
    assert open_spool(tmp_path / "absent.wav") is None
    os.mkfifo(tmp_path / "pipe")
    spool = in_thread(lambda: open_spool(tmp_path / "pipe"))()  # which does not wait for a writer
    (tmp_path / "pipe").write_bytes(b"bytes")
    assert SpoolReader(spool.path, "pipe").read_fully(0, 100) == b"bytes"
    spool.close()


def test_a_named_pipe_that_nobody_writes_and_one_that_another_empties_hold_nobody_up(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    in_thread(open_spool(tmp_path / "pipe").close)()
    rivals = [open_spool(tmp_path / "pipe") for _ in range(2)]
    with (tmp_path / "pipe").open("wb", buffering=0) as writer:
        for _ in range(20):
            writer.write(b"bytes")
            time.sleep(0.01)
        for rival in rivals:
            in_thread(rival.close)()


def test_a_terminal_is_no_recording(monkeypatch):
    leader, follower = pty.openpty()
    path = Path(os.ttyname(follower))
    with pytest.raises(UsageError, match="is a terminal: pipe a recording in"):
        open_spool(path)
    kept = os.dup(STDIN_FD)
    os.dup2(follower, STDIN_FD)
    try:
        with pytest.raises(UsageError, match="SPEECH is -, but stdin is a terminal"):
            open_spool(STDIN)
    finally:
        os.dup2(kept, STDIN_FD)
        for fd in (kept, leader, follower):
            os.close(fd)


@pytest.mark.parametrize("name", [*IN_ORDER, *NOT_IN_ORDER])
def test_a_pipe_gives_bitwise_the_samples_of_the_file(speech, tmp_path, arriving, name):
    data = encode(speech(2.0), tmp_path / name, *(IN_ORDER | NOT_IN_ORDER)[name])
    decoded = in_thread(lambda: samples_of(STDIN, arriving.spool.path))
    for start in range(0, len(data), 1 + len(data) // 5):
        arriving.write(data[start : start + 1 + len(data) // 5])
        time.sleep(0.02)
    arriving.end()
    samples, warnings = decoded()
    assert warnings == []
    assert np.array_equal(samples, samples_of(tmp_path / name)[0])


@pytest.mark.parametrize("name", ["speech.wav", "speech.flac", "finished.mp3", "speech.ogg", "first.m4a"])
def test_a_pipe_that_ends_early_is_a_cut_file(speech, tmp_path, arriving, name):
    data = encode(speech(4.0), tmp_path / name, *(IN_ORDER | NOT_IN_ORDER)[name])
    cut = data[: len(data) // 2 + 1]
    (tmp_path / name).write_bytes(cut)
    decoded = in_thread(lambda: samples_of(STDIN, arriving.spool.path))
    arriving.write(cut)
    arriving.end()
    samples, warnings = decoded()
    own, _ = samples_of(tmp_path / name)
    assert np.array_equal(samples, own)
    assert len(warnings) == 1
    assert warnings[0].startswith("stdin is damaged")


@pytest.mark.parametrize("name", ["speech.wav", "speech.flac", "bare.mp3", "speech.opus", "fragments.m4a"])
def test_decoding_begins_before_the_recording_has_ended(speech, tmp_path, arriving, name):
    data = encode(speech(8.0), tmp_path / name, *IN_ORDER[name])
    arriving.write(data[: len(data) * 3 // 4])
    decoder = in_thread(lambda: SpeechDecoder(STDIN, arriving.spool.path))()
    blocks = decoder.blocks()
    begun = in_thread(lambda: sum(len(next(blocks)) for _ in range(10)))()
    assert begun == 10 * 4096
    arriving.write(data[len(data) * 3 // 4 :])
    arriving.end()
    rest = in_thread(lambda: sum(map(len, blocks)))()
    assert begun + rest == len(samples_of(tmp_path / name)[0])
    decoder.close()


def test_nothing_at_all_is_an_empty_recording(arriving):
    arriving.end()
    with pytest.raises(InputError, match="stdin is empty"):
        probe_speech(STDIN, arriving.spool.path)


@pytest.mark.parametrize("piece", [b"no sound at all\n" * 4096, bytes(1 << 16)])
def test_what_is_no_recording_is_refused_before_its_end(arriving, piece):
    refused = in_thread(lambda: probe_speech(STDIN, arriving.spool.path))
    for _ in range(200):
        arriving.write(piece)
    result = refused()
    assert isinstance(result, InputError)
    assert "stdin is not a recording" in result.message


def test_a_recording_that_breaks_off_is_an_error_and_not_an_end(speech, arriving):
    arriving.write(speech(4.0).read_bytes()[:100_000])
    source = SpeechSource(STDIN, Fraction(25), spool=arriving.spool.path)
    assert source.has_frame(10)
    more = in_thread(lambda: source.has_frame(10_000))
    time.sleep(0.1)
    arriving.spool.close()
    assert isinstance(more(), EnvironmentProblem)
    assert source.total_frames is None
    source.close()
    arriving.spool = SpeechSpool(os.open(os.devnull, os.O_RDONLY), "stdin")


def test_what_has_arrived_is_not_held_back_by_who_waits_for_more(speech, arriving):
    data = speech(6.0).read_bytes()
    arriving.write(data[: len(data) // 2])
    source = SpeechSource(STDIN, Fraction(25), spool=arriving.spool.path)
    models = in_thread(lambda: source.model_samples(0, 5 * 16000))
    time.sleep(0.3)
    assert models.waits()
    sound = in_thread(lambda: [source.sound_for_frame(frame) for frame in range(50)])
    assert len(sound()) == 50
    assert source.total_frames is None
    arriving.write(data[len(data) // 2 :])
    arriving.end()
    assert len(models()) == 5 * 16000
    source.close()


def test_closing_does_not_wait_for_what_never_comes(speech, arriving):
    arriving.write(speech(4.0).read_bytes()[:100_000])
    source = SpeechSource(STDIN, Fraction(25), spool=arriving.spool.path)
    waiting = in_thread(lambda: source.has_frame(10_000))
    time.sleep(0.1)
    closed = in_thread(source.close)
    assert closed() is None
    assert isinstance(waiting(), Exception)


def test_ffmpeg_ends_with_a_reader_that_is_killed_while_it_waits(speech, arriving):
    arriving.write(speech(4.0).read_bytes()[:100_000])
    code = (
        "import sys; from pathlib import Path; from avatar_cli.media.speech_in import SpeechDecoder;"
        "d = SpeechDecoder(Path('-'), Path(sys.argv[1])); print(d.pid, flush=True); list(d.blocks())"
    )
    reader = subprocess.Popen([sys.executable, "-c", code, arriving.spool.path], stdout=subprocess.PIPE)
    ffmpeg = psutil.Process(int(reader.stdout.readline()))
    assert Path(ffmpeg.exe()).resolve() == ffmpeg_path().resolve()
    time.sleep(0.2)
    reader.send_signal(signal.SIGKILL)
    reader.communicate()
    assert psutil.wait_procs([ffmpeg], PATIENCE)[1] == []
