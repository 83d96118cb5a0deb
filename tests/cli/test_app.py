import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from avatar_cli import __version__


def avatar(*words, env=None):
    command = [sys.executable, "-m", "avatar_cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)


def modules_after(code):
    script = f"import sys\n{code}\nprint('MODULES', *sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(result.stdout.rpartition("MODULES ")[2].split())


def test_help_imports_no_torch_and_nothing_that_reads_inputs():
    modules = modules_after("from avatar_cli.cli.app import run\nassert run(['render', '--help']) == 0")
    assert "typer" in modules
    assert not modules & {"torch", "numpy", "yaml", "PIL", "avatar_cli.worker.agent"}


def test_checking_inputs_imports_no_torch(photo, speech, tmp_path):
    modules = modules_after(
        "from pathlib import Path\n"
        "from avatar_cli.cli.configuration import configure\n"
        "from avatar_cli.cli.inputs import build_job\n"
        "from avatar_cli.cli.request import Files, Request\n"
        "import avatar_cli.cli.run_render\n"
        f"files = Files(Path({str(photo)!r}), Path({str(speech)!r}), Path({str(tmp_path / 'o.mp4')!r}),"
        " False, None, None, None)\n"
        "build_job(files, configure(Request({})))"
    )
    assert "avatar_cli.media.speech_in" in modules
    assert "torch" not in modules


def test_help_shows_examples_and_exit_codes():
    result = avatar("render", "--help")
    assert result.returncode == 0
    assert "Examples" in result.stdout
    assert "130 interrupted" in result.stdout


def test_no_words_at_all_show_the_help():
    result = avatar()
    assert result.returncode == 0
    assert "Usage: avatar" in result.stdout


def test_version():
    assert avatar("--version").stdout == f"avatar {__version__}\n"


def test_models_names_the_portrait_and_its_words():
    result = avatar("models")
    assert result.returncode == 0
    assert "portrait" in result.stdout
    assert "smiling" in result.stdout
    assert "slightly" in result.stdout


def test_models_can_be_asked_for_by_name():
    assert avatar("models", "list").stdout == avatar("models").stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("bench", "runtime", "--keep", "x"), "--keep x is not a way to keep networks"),
        (("bench", "runtime", "--size", "huge"), "--size huge is not a size: choose 14b, tiny"),
        (("bench", "runtime", "--tiny", "--params", "1B"), "--tiny is a size of its own"),
        (("bench", "runtime", "--json", "absent/a.json"), "the folder absent does not exist"),
        (("models", "plan", "--params", "lots"), "--params lots is not a number of parameters"),
        (("models", "plan", "--measured", "absent.json"), "absent.json"),
    ],
)
def test_what_cannot_be_measured_or_planned_is_one_sentence(words, told):
    result = avatar(*words)
    assert result.returncode in (2, 3, 4)
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [("rendr",), ("render",), ("render", "a.png", "b.wav", "--sise", "3")])
def test_a_wrong_command_line_is_one_sentence_and_exit_code_2(words):
    result = avatar(*words)
    assert result.returncode == 2
    assert result.stderr.startswith("avatar: error: ")
    assert result.stderr.count("\n") == 1
    assert "--help" in result.stderr


def test_a_wrong_setting_is_exit_code_2(photo, speech):
    result = avatar("render", photo, speech, "--prompt", "smile")
    assert result.returncode == 2
    assert result.stderr == (
        "avatar: error: --prompt: smile is not a word that portrait knows: "
        "the nearest is smiling, and `avatar models` lists them all.\n"
    )


def test_a_wrong_cue_file_is_exit_code_3(photo, speech, tmp_path):
    cues = tmp_path / "cues.yaml"
    cues.write_text("0:00: calm\n0:12: smile\n")
    result = avatar("render", photo, speech, "--prompt", cues)
    assert result.returncode == 3
    assert f"{cues}, line 2: smile is not a word" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_wrong_input_is_exit_code_3_without_a_traceback(photo, tmp_path):
    result = avatar("render", photo, tmp_path / "absent.wav", "-o", tmp_path / "out.mp4")
    assert result.returncode == 3
    assert "absent.wav" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_name_that_would_break_the_line_is_written_with_escapes(photo, tmp_path):
    absent = tmp_path / "talk\n\x1b[31m\u2028.wav"
    result = avatar("render", photo, absent, "-o", tmp_path / "out.mp4")
    assert result.returncode == 3
    assert result.stderr.startswith(rf"avatar: error: {tmp_path}/talk\n\x1b[31m\u2028.wav cannot be read")
    assert result.stderr.count("\n") == 1


def test_an_empty_background_is_exit_code_2(photo, speech, tmp_path):
    result = avatar("render", photo, speech, "-o", tmp_path / "out.mp4", "--background", "")
    assert result.returncode == 2
    assert result.stderr == (
        "avatar: error: --background is empty: write a colour such as white or #rrggbb, "
        "or the name of a picture.\n"
    )


def test_an_input_that_may_not_be_read_is_bad_input_too(photo, tmp_path, speech):
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may read everything, and there is no setpriv to take that right away")
    photo.chmod(0)
    rights = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] if os.getuid() == 0 else []
    command = [
        *rights,
        sys.executable,
        "-m",
        "avatar_cli",
        "render",
        photo,
        speech,
        "-o",
        tmp_path / "out.mp4",
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 3
    assert result.stderr == f"avatar: error: {photo} cannot be read (Permission denied): check the name.\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_during_the_first_imports_is_one_sentence(number):
    code = f"""
import os, sys

class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "avatar_cli.cli.app":
            os.kill(os.getpid(), {int(number)})

sys.meta_path.insert(0, Interrupting())
from avatar_cli.__main__ import main
main()
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 130
    assert result.stderr == "avatar: interrupted; nothing was written.\n"


def test_debug_adds_the_traceback(photo, tmp_path):
    result = avatar("render", photo, tmp_path / "absent.wav", "-o", tmp_path / "out.mp4", "--debug")
    assert result.returncode == 3
    assert "Traceback" in result.stderr


def test_json_tells_early_errors_as_events_too(photo, tmp_path):
    result = avatar("render", photo, tmp_path / "absent.wav", "-o", tmp_path / "out.mp4", "--json")
    event = json.loads(result.stdout)
    assert event["event"] == "failed"
    assert event["code"] == result.returncode == 3
    assert event["message"] in result.stderr


def test_shell_completion_completes_commands_and_starts_nothing():
    asking = {"_AVATAR_COMPLETE": "complete_bash", "COMP_WORDS": "avatar ren", "COMP_CWORD": "1", "PATH": ""}
    result = avatar("render", "a", "b", env=asking)
    assert "render" in result.stdout.split()
