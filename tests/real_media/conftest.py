"""The folder of real files, how much of each is rendered, and where the videos go."""

import os
from pathlib import Path

import pytest

from tests.real_media.catalogue import SHOWN


@pytest.fixture(scope="session")
def most_frames() -> int | None:
    """Frames rendered of each file; None for all of it."""
    return None if os.environ.get("AVATAR_WHOLE_MEDIA") else SHOWN


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    """Where the videos are kept to be looked at, or a folder that is thrown away."""
    kept = os.environ.get("AVATAR_KEEP_VIDEOS")
    if not kept:
        return tmp_path
    Path(kept).mkdir(parents=True, exist_ok=True)
    return Path(kept)


@pytest.fixture(scope="session", autouse=True)
def same_sums(one_thread):
    """Frames are compared bit by bit."""
