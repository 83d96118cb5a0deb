import re
from pathlib import Path

import typer

from avatar_cli.cli.app import build_app
from avatar_cli.cli.configuration import configure
from avatar_cli.cli.reference import reference
from avatar_cli.cli.request import Request
from avatar_cli.cli.settings import SETTINGS

DOCS = Path(__file__).resolve().parents[2] / "docs" / "cli.md"


def test_the_page_of_the_command_line_is_what_help_says():
    assert DOCS.read_text() == reference(), "run `make docs`"


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
