import json

import pytest

from avatar_cli.evaluation.quality.phones import Phone, read_phones
from avatar_cli.protocol.errors import InputError


@pytest.mark.parametrize(
    "text",
    [
        "0.1 0.2 B\n\n0.2\t0.35\tAE1\n",
        json.dumps([["B", 0.1, 0.2], ["AE1", 0.2, 0.35]]),
        json.dumps({"phones": [["B", 0.1, 0.2], ["AE1", 0.2, 0.35]], "text": "ba"}),
    ],
)
def test_lines_and_json_say_the_same(tmp_path, text):
    path = tmp_path / "phones"
    path.write_text(text)

    assert read_phones(path) == [Phone("B", 0.1, 0.2), Phone("AE1", 0.2, 0.35)]


def test_stress_does_not_make_another_sound():
    assert Phone("ae1", 0, 1).unit == "AE"


@pytest.mark.parametrize(
    "text", ["0.1 0.2\n", "a b c\n", '{"words": []}', "[[1]]", "[1]", "{", "[" * 100_000]
)
def test_what_is_no_list_of_phones_is_named_in_one_sentence(tmp_path, text):
    path = tmp_path / "phones.txt"
    path.write_text(text)

    with pytest.raises(InputError, match=r"phones\.txt holds no phone times"):
        read_phones(path)


def test_an_absent_file_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_phones(tmp_path / "absent")


WRONG = [("nan", "0.3"), ("0.2", "inf"), ("0.2", "1e999"), ("0.3", "0.2"), ("-1", "0.2"), ("0.2", "1e9")]


@pytest.mark.parametrize(("start", "end"), [*WRONG, ("a", "b")])
def test_a_time_that_cannot_be_is_named_by_its_line(tmp_path, start, end):
    path = tmp_path / "phones.txt"
    path.write_text(f"0.1 0.2 B\n\n{start} {end} AE1\n")

    with pytest.raises(InputError, match=r"phones\.txt holds no phone times \(line 3: .*\): write lines of"):
        read_phones(path)


@pytest.mark.parametrize(("start", "end"), [("NaN", "0.3"), ("0.2", "Infinity"), *WRONG[2:]])
def test_a_time_that_cannot_be_is_named_by_its_place_in_json(tmp_path, start, end):
    path = tmp_path / "phones.json"
    path.write_text(f'[["B", 0.1, 0.2], ["AE1", {start}, {end}]]')

    with pytest.raises(
        InputError, match=r"phones\.json holds no phone times \(phone 2: .*\): write lines of"
    ):
        read_phones(path)


def test_a_sound_may_be_as_short_as_nothing(tmp_path):
    path = tmp_path / "phones.txt"
    path.write_text("0 0 B\n")

    assert read_phones(path) == [Phone("B", 0, 0)]
