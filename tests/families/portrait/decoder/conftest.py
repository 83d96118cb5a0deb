"""Two portraits for the decoder's tests: lips apart, and lips closed."""

import pytest

from avatar_cli.families.portrait.person_mask import PersonMasker
from avatar_cli.families.portrait.tracker import FaceTracker
from tests.families.portrait.decoder.portraits import (
    CLOSED_PORTRAIT,
    OPEN_PORTRAIT,
    Portrait,
    has_test_media,
    read_portrait,
)


@pytest.fixture(scope="session")
def networks():
    return FaceTracker(), PersonMasker()


@pytest.fixture(scope="session")
def open_portrait(networks) -> Portrait:
    return Portrait(read_portrait(OPEN_PORTRAIT), *networks)


@pytest.fixture(scope="session")
def closed_portrait(networks) -> Portrait:
    """A photo with closed lips; without test media the demo portrait as the decoder closes it."""
    portrait = Portrait(read_portrait(CLOSED_PORTRAIT), *networks)
    if has_test_media():
        return portrait
    return Portrait(portrait.render(gap=0.0, jaw_drop=0.0), *networks)


@pytest.fixture(params=["open_portrait", "closed_portrait"])
def portrait(request) -> Portrait:
    return request.getfixturevalue(request.param)
