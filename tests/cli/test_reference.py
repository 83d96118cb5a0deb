import re
from pathlib import Path

import typer

from avatar_cli.cli.app import build_app
from avatar_cli.cli.configuration import configure
from avatar_cli.cli.reference import reference
from avatar_cli.cli.request import Request
from avatar_cli.cli.settings import SETTINGS
from avatar_cli.media.background import DEFAULT_BACKGROUND, resolve_background

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_the_command_line_is_what_help_says():
    assert (DOCS / "cli.md").read_text() == reference(), "run `make docs`"


def test_defaults_in_the_help_are_those_of_the_preset():
    options = {
        option.name: option for option in typer.main.get_command(build_app()).commands["render"].params
    }
    defaults = configure(Request({}))
    named = 0
    for key, setting in SETTINGS.items():
        written = setting.flag and re.search(r"\[default: (.*?)\]", options[setting.flag[2:]].help)
        if written and key not in ("picture.background", "picture.face"):
            assert setting.read(written[1]) == defaults[key], key
            named += 1
    assert named >= 9


def test_the_page_of_settings_has_each_with_its_flag_and_default():
    rows = re.findall(
        r"^\| `(.+?)` \| (?:`(.+?)`)? ?\| (.*?) ?\| .+ \|$",
        (DOCS / "settings.md").read_text().partition("## Events")[0],
        re.MULTILINE,
    )
    assert [key for key, _, _ in rows] == list(SETTINGS)
    defaults = configure(Request({}))
    for key, flag, written in rows:
        setting = SETTINGS[key]
        assert flag == (setting.flag or ""), key
        if defaults[key] is None:
            assert written.startswith("null: "), key
        elif key == "generation.prompt":
            assert (written, defaults[key]) == ("", ()), key
        else:
            assert setting.read(written) == defaults[key], key


def test_what_null_means_is_what_the_code_does():
    written = (DOCS / "settings.md").read_text()
    assert f"| null: {DEFAULT_BACKGROUND} |" in written
    assert resolve_background(configure(Request({}))["picture.background"]) == DEFAULT_BACKGROUND
