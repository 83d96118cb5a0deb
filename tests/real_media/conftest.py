"""The folder of real files, how much of each is rendered, and where the videos go."""

import os
from pathlib import Path

import pytest
import torch

from tests.real_media.catalogue import SHOWN


@pytest.fixture(scope="session")
def media() -> Path:
    folder = os.environ.get("AVATAR_TEST_MEDIA")
    if not folder:
        pytest.skip("AVATAR_TEST_MEDIA is not set: no real pictures and recordings to render")
    return Path(folder)


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
def one_thread():
    """As in a rank of the command."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
