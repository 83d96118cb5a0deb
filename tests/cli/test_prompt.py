import pytest

from avatar_cli.cli.prompt import Vocabulary, parse_prompt
from avatar_cli.protocol.job import Prompted

VOCABULARY = Vocabulary(
    model="portrait",
    words=("calm", "serious", "smiling", "still head", "looking left", "looking right"),
    intensities={"slightly": 0.5, "very": 1.5},
    opposites=(("looking left", "looking right"),),
)


def refusal(text):
    with pytest.raises(ValueError) as error:
        parse_prompt(text, VOCABULARY)
    return str(error.value)


def test_words_come_with_their_intensities():
    assert parse_prompt("very smiling, still head, slightly looking left", VOCABULARY) == (
        Prompted("smiling", 1.5),
        Prompted("still head", 1.0),
        Prompted("looking left", 0.5),
    )


@pytest.mark.parametrize(
    "text",
    [
        "still head, very calm",
        "  STILL-HEAD ;Very_Calm",
        "still  head and very calm",
        "still head very calm",
        "Still\thead,\n very calm,",
        ", still head,, and very calm;",
    ],
)
def test_case_spaces_hyphens_and_what_separates_words_do_not_matter(text):
    assert parse_prompt(text, VOCABULARY) == (Prompted("still head", 1.0), Prompted("calm", 1.5))


@pytest.mark.parametrize("text", ["", " ", ",", "and"])
def test_nothing_said_is_nothing_asked_for(text):
    assert parse_prompt(text, VOCABULARY) == ()


@pytest.mark.parametrize(
    ("text", "said", "nearest"),
    [
        ("furious", "furious", "serious"),
        ("calm, big smile", "big smile", "smiling"),
        ("very smile", "smile", "smiling"),
        ("looks left", "looks left", "looking left"),
        ("head still", "head still", "still head"),
        ("happy-ish calm", "happy ish", None),
        ("calm 1.5", "1.5", None),
        ("x" * 99, "x" * 40, None),
    ],
)
def test_what_is_unknown_is_named_with_the_nearest_word(text, said, nearest):
    advice = f"the nearest is {nearest}, and " if nearest else ""
    assert refusal(text) == (
        f"{said} is not a word that portrait knows: {advice}`avatar models` lists them all"
    )


@pytest.mark.parametrize("text", ["calm, calm", "calm, very calm", "slightly calm and very calm"])
def test_a_word_that_comes_twice_is_refused(text):
    assert refusal(text) == "calm comes twice: keep one of them"


def test_words_that_contradict_each_other_are_refused():
    said = refusal("looking right, calm, slightly looking left")
    assert said == "looking left and looking right contradict each other: keep one of them"


@pytest.mark.parametrize("text", ["very", "very, calm", "calm very"])
def test_an_intensity_needs_a_word(text):
    assert refusal(text).startswith("very has no word behind it")


def test_a_word_has_one_intensity():
    assert refusal("very slightly calm") == "very and slightly come before one word: keep one of them"
