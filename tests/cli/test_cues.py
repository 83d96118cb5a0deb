import os
from fractions import Fraction

import pytest

from avatar_cli.cli.cues import is_cue_file, read_cues
from avatar_cli.cli.prompt import Vocabulary
from avatar_cli.protocol.errors import InputError
from avatar_cli.protocol.job import Cue, Prompted

VOCABULARY = Vocabulary(
    model="portrait",
    words=("calm", "lively", "nodding", "smiling"),
    intensities={"slightly": 0.5, "very": 1.5},
    opposites=(("calm", "lively"),),
)
CALM, NODDING = Prompted("calm", 1.0), Prompted("nodding", 1.0)


@pytest.fixture
def cues(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(content):
        path = tmp_path / "cues.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_cues(path.relative_to(tmp_path), VOCABULARY)

    return read


@pytest.fixture
def refusal(cues):
    def read(content):
        with pytest.raises(InputError) as error:
            cues(content)
        return error.value.message

    return read


def test_a_file_gives_times_to_words(cues):
    text = """
# a script
0:00: calm
0:12.5: very smiling, nodding   # both
1:12:
1:02:03: slightly calm
"""
    assert cues(text) == (
        Cue(Fraction(0), (CALM,)),
        Cue(Fraction(25, 2), (Prompted("smiling", 1.5), NODDING)),
        Cue(Fraction(72), ()),
        Cue(Fraction(3723), (Prompted("calm", 0.5),)),
    )


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("7", Fraction(7)),
        ("012.5", Fraction(25, 2)),
        ("0.1", Fraction(1, 10)),
        ("90", Fraction(90)),
        ("1:30", Fraction(90)),
        ("0:05.04", Fraction(126, 25)),
        ("90:00", Fraction(5400)),
        ("1:30:00.25", Fraction(21601, 4)),
        ('"0:12"', Fraction(12)),
        ("'12'", Fraction(12)),
    ],
)
def test_times_are_seconds_minutes_and_hours(cues, written, seconds):
    assert cues(f"{written}: calm") == (Cue(seconds, (CALM,)),)


@pytest.mark.parametrize("written", ["1:60", "1:60:00", "-1", "1:2:3:4", "soon", "1e3", "12s", "9" * 5000])
def test_what_is_no_time_is_told(refusal, written):
    said = refusal(f"0: calm\n? {written}\n: calm\n")
    assert said.startswith("cues.yaml, line 2: ")
    assert "is not a time: write seconds such as 12.5, or 0:12.5, or 1:02:03." in said


@pytest.mark.parametrize(
    "words", ["[calm, nodding]", "\n  - calm\n  - nodding", '"calm, nodding"', "calm nodding"]
)
def test_words_may_be_a_list(cues, words):
    assert cues(f"0: {words}") == (Cue(Fraction(0), (CALM, NODDING)),)


@pytest.mark.parametrize("nothing", ["", '""', "~", "null", "[]"])
def test_no_words_end_what_was_asked_for(cues, nothing):
    assert cues(f"0: calm\n1: {nothing}")[1] == Cue(Fraction(1), ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "0: calm\n\n0:20: smile",
            "cues.yaml, line 3: smile is not a word that portrait knows: the nearest is",
        ),
        ("0: calm\n9: calm, lively", "cues.yaml, line 2: calm and lively contradict each other"),
        ("0: calm\n0:20: calm\n0:12: calm", "cues.yaml, line 3: 0:12 lies before the cue above it"),
        ("0:12: calm\n\n12: calm", "cues.yaml, line 3: 12 comes twice, first in line 1"),
        ("0: {smiling: 1}", "cues.yaml, line 1: this is no cue"),
        ("0: [[calm]]", "cues.yaml, line 1: this is no cue"),
        ("{[0]: calm}", "cues.yaml, line 1: this is no cue"),
        ("\n- 0: calm\n", "cues.yaml, line 2: this is no cue"),
        ("calm, nodding", "cues.yaml, line 1: this is no cue"),
        ("0:12:calm", "cues.yaml, line 1: this is no cue"),
        ("0: calm\n0:12:calm", "cues.yaml, line 2: YAML could not find expected ':'"),
        ("0: calm\n---\n1: calm", "cues.yaml, line 2: YAML"),
        ("0: *calm", "cues.yaml, line 1: YAML found undefined alias"),
        ("[" * 2000, "cues.yaml"),
        ("", "cues.yaml holds no cues: write lines such as"),
        ("# nothing\n", "cues.yaml holds no cues"),
        ("{}", "cues.yaml holds no cues"),
        (b"0: \x00", "cues.yaml is not YAML"),
        (b"\x89PNG\r\n\x1a\n\xff", "cues.yaml is not text in UTF-8"),
        ("0: calm".encode("utf-16"), "cues.yaml is not text in UTF-8"),
        ("#" * (1 << 18) + "\n0: calm", "cues.yaml is larger than 256 KiB"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence_with_its_line(refusal, text, said):
    message = refusal(text)
    assert message.startswith(said)
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 300


def test_a_byte_order_mark_is_no_part_of_the_text(cues):
    assert cues("0: calm".encode("utf-8-sig")) == (Cue(Fraction(0), (CALM,)),)


def test_files_that_cannot_be_read_are_told(tmp_path):
    with pytest.raises(InputError, match=r"absent\.yaml cannot be read \(No such file or directory\)"):
        read_cues(tmp_path / "absent.yaml", VOCABULARY)
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\)"):
        read_cues(tmp_path, VOCABULARY)
    with pytest.raises(InputError, match=r"cannot be read .*too long"):
        read_cues(tmp_path / f"{'x' * 300}.yaml", VOCABULARY)
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputError, match=r"pipe\.yaml is not a file but a pipe"):
        read_cues(tmp_path / "pipe.yaml", VOCABULARY)


def test_the_name_of_a_cue_file_tells_that_it_is_one():
    assert is_cue_file("cues.yaml")
    assert is_cue_file("My cues.YML")
    assert not is_cue_file("smiling, calm")
    assert not is_cue_file("cues.txt")
