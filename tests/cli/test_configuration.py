from fractions import Fraction

import pytest

from avatar_cli.cli.configuration import configure
from avatar_cli.cli.presets import preset_names
from avatar_cli.cli.request import Request
from avatar_cli.cli.settings import SETTINGS
from avatar_cli.protocol.errors import InputError, UsageError
from avatar_cli.protocol.job import Cue, Prompted


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        return path

    return write


def refusal(request):
    with pytest.raises(UsageError) as error:
        configure(request)
    return error.value.message


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_has_every_setting(name):
    values = configure(Request({"model": name})).values
    assert set(values) == set(SETTINGS)
    assert {key for key, value in values.items() if value is None} <= {"picture.background", "picture.face"}


def test_the_default_is_a_portrait_at_720p_and_25_frames_a_second():
    configuration = configure(Request({}))
    assert configuration.preset.family == "portrait"
    assert configuration["picture.size"] == "720p"
    assert configuration["picture.fps"] == Fraction(25)
    assert configuration["generation.steps"] == 6
    assert configuration["encoding.crf"] == 20


def test_flags_win_over_assignments_and_those_over_the_file(config):
    file = config("generation: {steps: 3, seed: 3}\nencoding: {crf: 3}\n")
    assignments = ("generation.steps=4", "generation.seed=4")
    configuration = configure(Request({"steps": "5"}, assignments, file))
    assert configuration["generation.steps"] == 5
    assert configuration["generation.seed"] == 4
    assert configuration["encoding.crf"] == 3


def test_preview_wins_over_the_file_and_loses_to_words_of_the_command_line(config):
    file = config("picture: {size: 1080p}\ngeneration: {steps: 9}\n")
    configuration = configure(Request({"steps": "5"}, ("encoding.preset=fast",), file, preview=True))
    assert configuration["picture.size"] == "360p"
    assert configuration["encoding.preset"] == "fast"
    assert configuration["generation.steps"] == 5


def test_preview_is_small_quick_and_of_two_steps():
    configuration = configure(Request({}, preview=True))
    assert configuration["picture.size"] == "360p"
    assert configuration["encoding.preset"] == "ultrafast"
    assert configuration["generation.steps"] == 2


A_VALUE_OF_ITS_OWN = {
    "model": "portrait",
    "picture.size": "64x64",
    "picture.fps": "30",
    "picture.fit": "pad",
    "picture.background": "red",
    "picture.face": "2",
    "generation.prompt": "calm",
    "generation.seed": "5",
    "generation.steps": "2",
    "generation.mode": "batch",
    "chunks.frames": "40",
    "chunks.interpolated": "8",
    "chunks.border": "4",
    "encoding.preset": "slow",
    "encoding.crf": "30",
    "encoding.audio_bitrate_kbps": "96",
    "compute.ranks": "2",
    "compute.threads": "2",
}


@pytest.mark.parametrize("key", SETTINGS)
def test_null_undoes_what_a_file_says(config, key):
    default = configure(Request({}))[key]
    file = config(f"{key}: {A_VALUE_OF_ITS_OWN[key]}")
    assert (configure(Request({}, config=file))[key] != default) == (key != "model")
    assert configure(Request({}, (f"{key}=null",), file))[key] == default
    assert configure(Request({}, config=config(f"{key}: null")))[key] == default


def test_null_undoes_what_preview_says():
    configuration = configure(Request({}, ("picture.size=null",), preview=True))
    assert configuration["picture.size"] == "720p"
    assert configuration["generation.steps"] == 2


def test_dotted_and_nested_keys_mean_the_same(config):
    nested = configure(Request({}, config=config("chunks: {frames: 40}")))
    dotted = configure(Request({}, config=config("chunks.frames: 40")))
    assert nested.values == dotted.values


@pytest.mark.parametrize(
    ("text", "wrong", "nearest"),
    [
        ("picture: {sise: 720p}", "picture.sise", "picture.size"),
        ("steps: 3", "steps", "generation.steps"),
        ("encodin: {crf: 3}", "encodin", "encoding.crf"),
        ("about: {family: other}", "about", ""),
    ],
)
def test_an_unknown_key_in_a_file_is_refused_with_the_nearest_one(config, text, wrong, nearest):
    message = refusal(Request({}, config=config(text)))
    assert wrong in message
    assert f"did you mean {nearest}" in message


def test_an_unknown_key_of_an_assignment_is_refused_with_the_nearest_one():
    assert "encoding.crf" in refusal(Request({}, ("encoding.cfr=3",)))


def test_an_assignment_without_a_value_is_refused():
    assert "-s encoding.crf" in refusal(Request({}, ("encoding.crf",)))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("steps", "0"),
        ("steps", "many"),
        ("seed", "-1"),
        ("fps", "0"),
        ("fps", "1/0"),
        ("fps", "0.99"),
        ("fps", "fast"),
        ("fps", "1000"),
        ("fit", "stretch"),
        ("mode", "live"),
        ("nproc", "0"),
        ("threads", "1.5"),
        ("model", "no-such-model"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_the_name_of_its_flag(option, value):
    message = refusal(Request({option: value}))
    assert message.startswith(f"--{option}")
    assert value in message


def test_a_wrong_value_in_a_file_names_key_and_file(config):
    message = refusal(Request({}, config=config("encoding: {crf: 99}")))
    assert "encoding.crf" in message
    assert "mine.yaml" in message


def test_a_file_of_two_documents_or_a_list_is_refused(config):
    assert "mine.yaml" in refusal(Request({}, config=config("[1, 2]")))
    assert "mine.yaml" in refusal(Request({}, config=config("a: [")))


@pytest.mark.parametrize(
    "text",
    ["picture: {size: 360p}\npicture: {fps: 30}", "picture: {fps: 30, fps: 25}", "[" * 9999, "2026-02-30"],
)
def test_a_file_that_yaml_would_misread_or_fail_on_is_refused(config, text):
    assert "is not YAML" in refusal(Request({}, config=config(text)))


def test_a_missing_file_is_refused(tmp_path):
    assert "absent.yaml" in refusal(Request({}, config=tmp_path / "absent.yaml"))


@pytest.mark.timeout(20)
def test_a_file_whose_aliases_stand_for_billions_of_values_is_refused(config):
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    path = config("\n".join([*lines, "encoding.crf: *a8"]))
    assert refusal(Request({}, config=path)) == (
        f"--config {path} has an alias (*a0 in line 2): write out what it stands for."
    )


@pytest.mark.parametrize(
    "text",
    [f"[{'7, ' * 20_000}]", f"'{'x' * 20_000}'", "0x" + "f" * 20_000, "[" * 50 + "]" * 50],
    ids=["list", "text", "number", "deep"],
)
def test_of_a_long_value_the_beginning_is_shown(config, text):
    message = refusal(Request({}, config=config(f"encoding.crf: {text}")))
    assert "must be a whole number from 0 to 51, not " in message
    assert len(message.partition(", not ")[2]) <= 41


def test_an_empty_file_changes_nothing(config):
    assert configure(Request({}, config=config("# nothing\n"))).values == configure(Request({})).values


CALM, SMILING = Prompted("calm", 1.0), Prompted("smiling", 1.5)


def test_a_prompt_holds_from_the_beginning(config):
    from_beginning = (Cue(Fraction(0), (CALM, SMILING)),)
    assert configure(Request({"prompt": "Calm, very smiling"}))["generation.prompt"] == from_beginning
    words = ("generation.prompt=calm; very smiling",)
    assert configure(Request({}, words))["generation.prompt"] == from_beginning
    for text in ("'calm, very smiling'", "[calm, very smiling]"):
        file = config(f"generation: {{prompt: {text}}}")
        assert configure(Request({}, config=file))["generation.prompt"] == from_beginning


@pytest.mark.parametrize("nothing", ["null", '""', "[]"])
def test_no_prompt_undoes_another_one(config, nothing):
    file = config(f"generation: {{prompt: {nothing}}}")
    assert configure(Request({}, config=file))["generation.prompt"] == ()
    file = config("generation: {prompt: calm}")
    assert configure(Request({"prompt": ""}, config=file))["generation.prompt"] == ()
    assert configure(Request({}, ("generation.prompt=",), file))["generation.prompt"] == ()


def test_a_prompt_may_be_the_name_of_a_cue_file(config, tmp_path):
    cues = tmp_path / "cues.yml"
    cues.write_text("0:01: very smiling\n0:02.5: calm\n")
    timed = (Cue(Fraction(1), (SMILING,)), Cue(Fraction(5, 2), (CALM,)))
    file = config(f"generation: {{prompt: {cues}}}")
    for request in (Request({"prompt": str(cues)}), Request({}, config=file)):
        configuration = configure(request)
        assert configuration["generation.prompt"] == timed
        assert cues in configuration.files
    assert file in configuration.files


def test_a_wrong_prompt_is_refused_by_where_it_stands(config):
    assert refusal(Request({"prompt": "furious"})).startswith("--prompt: furious is not a word")
    file = config("generation: {prompt: furious}")
    assert refusal(Request({}, config=file)).startswith("generation.prompt: furious is not a word")
    assert "must be words" in refusal(Request({}, config=config("generation: {prompt: {0: calm}}")))
    assert "must be words" in refusal(Request({}, config=config("generation: {prompt: [1]}")))


def test_a_wrong_cue_file_is_bad_input(tmp_path):
    with pytest.raises(InputError, match=r"absent\.yaml cannot be read"):
        configure(Request({"prompt": str(tmp_path / "absent.yaml")}))


def test_a_cue_file_of_another_name_is_told_what_to_be_called(tmp_path):
    cues = tmp_path / "cues.txt"
    cues.write_text("0: calm")
    assert "one with cues ends in .yaml: rename it" in refusal(Request({"prompt": str(cues)}))


def test_a_border_longer_than_its_chunk_is_refused():
    assert "chunks.border=60" in refusal(Request({}, ("chunks.border=60",)))


def test_ntsc_rates_are_exact():
    assert configure(Request({"fps": "29.97"}))["picture.fps"] == Fraction(30000, 1001)
