"""A photo and a recording, as small as they can be."""

import wave
from pathlib import Path

import pytest
from PIL import Image


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "me.png"
    Image.new("RGB", (400, 300), "grey").save(path)
    return path


@pytest.fixture
def speech(tmp_path: Path) -> Path:
    path = tmp_path / "talk.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(bytes(2 * 16000))
    return path
