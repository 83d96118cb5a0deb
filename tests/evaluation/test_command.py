import pytest

from avatar_cli.assets import asset_path
from avatar_cli.evaluation.command import Render, render, render_watching_first_bytes, render_watching_memory
from avatar_cli.evaluation.silence import write_silence

MEBIBYTE = 2**20


@pytest.fixture
def preview(tmp_path):
    """A second of silence at 360p."""
    write_silence(tmp_path / "speech.wav", 1)
    reference = asset_path("demo/reference.png")
    return Render(reference, tmp_path / "speech.wav", tmp_path / "out.mp4", ("--preview",))


def test_the_first_bytes_seen_from_outside_are_those_of_the_report(preview):
    rendered, seconds = render_watching_first_bytes(preview)

    assert rendered.output.exists()
    assert rendered.report["speed"]["frames"] == 25
    assert 0 < seconds < rendered.seconds
    # The watchers look every few milliseconds; a loaded machine may hold either of them back.
    assert seconds == pytest.approx(rendered.report["ttff"]["first_bytes"], abs=0.5)


def test_the_memory_seen_from_outside_is_that_of_the_report(preview):
    rendered, samples = render_watching_memory(preview)

    # The job samples itself more rarely and may miss the peak.
    assert max(samples) > 0.7 * rendered.report["memory"]["pss_peak"] > 50 * MEBIBYTE


def test_a_command_that_fails_is_reported_with_its_last_words(preview, tmp_path):
    job = Render(tmp_path / "nobody.png", preview.speech, preview.output)

    with pytest.raises(RuntimeError, match=r"(?s)status 3.*nobody\.png"):
        render(job)
