import os
import resource
from fractions import Fraction
from pathlib import Path

import pytest
from PIL import Image

from avatar_cli.cli.configuration import configure
from avatar_cli.cli.inputs import build_job
from avatar_cli.cli.request import Files, Request
from avatar_cli.media.speech_spool import SpeechSpool
from avatar_cli.protocol.errors import EnvironmentProblem, InputError, UsageError
from avatar_cli.protocol.job import Cue, Fit, Prompted, RenderJob


@pytest.fixture
def files(photo, speech, tmp_path):
    def make(**changes):
        given = {"reference": photo, "speech": speech, "output": tmp_path / "out.mp4"}
        return Files(**given | changes)

    return make


def job(files, **options):
    return build_job(files, configure(Request(options)))


def test_a_job_survives_the_way_to_the_ranks(files):
    built = job(files(), fps="29.97", prompt="very calm", fit="pad")
    assert RenderJob.from_json(built.to_json()) == built
    assert built.generation.prompt == (Cue(Fraction(0), (Prompted("calm", 1.5),)),)
    assert built.picture.fit is Fit.PAD


def test_paths_of_a_job_are_absolute(files, photo, speech, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    relative = files(reference=Path("me.png"), speech=Path("talk.wav"), output=Path("out.mp4"))
    assert job(relative) == job(files())


def test_a_speech_from_a_pipe_keeps_its_name_and_has_a_spool(files, speech):
    spool = SpeechSpool(os.open(speech, os.O_RDONLY), "stdin")
    built = build_job(files(speech=Path("-")), configure(Request({})), spool.path)
    spool.close()
    assert (built.speech, built.spool) == ("-", str(spool.path))
    assert RenderJob.from_json(built.to_json()) == built
    assert job(files()).spool is None


def test_what_can_be_told_at_once_does_not_wait_for_the_speech(files, tmp_path):
    (tmp_path / "out.mp4").write_bytes(b"old")
    source, sink = os.pipe()
    spool = SpeechSpool(source, "stdin")
    with pytest.raises(UsageError, match="--overwrite"):
        build_job(files(speech=Path("-")), configure(Request({})), spool.path)
    spool.close()
    os.close(sink)


def test_the_name_of_the_video_follows_the_speech(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert job(files(output=None)).output == str(tmp_path / "talk.mp4")


def test_the_size_follows_the_shape_of_the_reference(files):
    picture = job(files()).picture
    assert (picture.width, picture.height) == (1280, 720)


def test_an_existing_video_is_only_replaced_on_demand(files, tmp_path):
    (tmp_path / "out.mp4").write_bytes(b"old")
    with pytest.raises(UsageError, match="--overwrite"):
        job(files())
    job(files(overwrite=True))
    assert (tmp_path / "out.mp4").read_bytes() == b"old"


def test_inputs_that_are_missing_are_bad_input(files, tmp_path):
    with pytest.raises(InputError, match=r"absent\.png"):
        job(files(reference=tmp_path / "absent.png"))
    with pytest.raises(InputError, match=r"absent\.wav"):
        job(files(speech=tmp_path / "absent.wav"))


def test_an_address_is_not_fetched(files):
    with pytest.raises(InputError, match=r"^https://example\.com/talk\.mp3 is an address.*download it"):
        job(files(speech=Path("https://example.com/talk.mp3")))


def test_the_picture_cannot_come_from_stdin(files):
    with pytest.raises(UsageError, match="REF cannot come from stdin"):
        job(files(reference=Path("-")))


def test_a_background_that_is_no_colour_is_refused(files):
    with pytest.raises(UsageError, match="greenish"):
        job(files(), background="greenish")


def test_a_background_picture_is_an_input_that_nothing_overwrites(files, tmp_path):
    scene = tmp_path / "scene.png"
    Image.new("RGB", (9, 9)).save(scene)
    assert job(files(), background=str(scene)).picture.background == str(scene)
    with pytest.raises(UsageError, match=r"scene\.png is an input"):
        job(files(report=scene, overwrite=True), background=str(scene))
    scene.write_bytes(b"text")
    with pytest.raises(InputError, match=r"scene\.png is not a picture"):
        job(files(), background=str(scene))


def test_cues_travel_with_their_times_and_nothing_overwrites_their_file(files, tmp_path):
    cues = tmp_path / "cues.yaml"
    cues.write_text("0:00.1: smiling\n1:12:\n")
    built = job(files(), prompt=str(cues))
    assert [cue.at for cue in built.generation.prompt] == [Fraction(1, 10), Fraction(72)]
    assert RenderJob.from_json(built.to_json()) == built
    with pytest.raises(UsageError, match=r"cues\.yaml is an input"):
        job(files(report=cues, overwrite=True), prompt=str(cues))


@pytest.mark.parametrize("option", ["report", "trace", "frame_hashes"])
def test_a_side_file_needs_a_folder_and_a_name_of_its_own(files, photo, tmp_path, option):
    with pytest.raises(UsageError, match="nowhere"):
        job(files(**{option: tmp_path / "nowhere" / "file"}))
    with pytest.raises(UsageError, match=r"me\.png"):
        job(files(**{option: photo}))
    with pytest.raises(UsageError, match=r"out\.mp4"):
        job(files(**{option: tmp_path / "out.mp4"}))
    with pytest.raises(UsageError, match=r"out\.partial\.mp4"):
        job(files(**{option: tmp_path / "out.partial.mp4"}))


def test_a_current_folder_that_is_gone_is_told(files, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(EnvironmentProblem, match="The current folder was deleted"):
        job(files())


def test_too_few_open_files_are_told(files):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (63, before[1]))
    try:
        with pytest.raises(EnvironmentProblem, match=r"Only 63 files may be open.* `ulimit -n 64`"):
            job(files())
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, before[1]))
        job(files())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_name_that_no_side_file_can_have_is_refused(files, tmp_path):
    with pytest.raises(UsageError, match="File name too long"):
        job(files(report=tmp_path / ("x" * 300)))
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match="loop"):
        job(files(report=tmp_path / "loop"))


@pytest.mark.parametrize("option", ["report", "trace", "frame_hashes"])
def test_an_existing_side_file_is_only_replaced_on_demand(files, tmp_path, option):
    finished = tmp_path / "finished.mp4"
    finished.write_bytes(b"an hour of work")
    with pytest.raises(UsageError, match="--overwrite"):
        job(files(**{option: finished}))
    job(files(**{option: finished}, overwrite=True))


def test_two_side_files_need_two_names(files, tmp_path):
    with pytest.raises(UsageError, match=r"same is .* asked for twice"):
        job(files(report=tmp_path / "same", trace=tmp_path / "same"))


def test_a_name_that_is_no_text_is_refused(files, tmp_path):
    name = tmp_path / os.fsdecode(b"f\xfcr.mp4")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        job(files(output=name))
    with pytest.raises(InputError, match="is not UTF-8 text"):
        job(files(speech=name))
