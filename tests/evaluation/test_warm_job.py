import json
import os
import subprocess
import sys
import wave
from fractions import Fraction

from avatar_cli.assets import asset_path
from avatar_cli.protocol.job import Compute, Encoding, Fit, Generation, Mode, Picture, RenderJob


def test_both_jobs_of_one_process_tell_when_they_first_played(tmp_path):
    speech = tmp_path / "speech.wav"
    with wave.open(str(speech), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(2 * 8_000))
    job = RenderJob(
        reference=str(asset_path("demo/reference.png")),
        speech=str(speech),
        output=str(tmp_path / "unused.mp4"),
        picture=Picture(160, 90, Fraction(25), Fit.CROP, "black", None),
        generation=Generation("portrait", (), 0, 2, 16, 0, 0, Mode.STREAMING),
        encoding=Encoding("ultrafast", 30, 64),
        compute=Compute(1, 1),
        frame_hashes=None,
    )
    path = tmp_path / "job.json"
    path.write_text(job.to_json())

    done = subprocess.run(
        [sys.executable, "-m", "avatar_cli.evaluation.warm_job", str(path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )

    first, second = json.loads(done.stdout)
    assert first > 0
    assert second > 0
    assert not (tmp_path / "unused.mp4").exists()
