import cv2
import numpy as np
import pytest

from avatar_cli.assets import asset_path


@pytest.fixture(scope="session")
def photo():
    """RGB uint8 [512, 512, 3], a real face."""
    image = cv2.imread(str(asset_path("demo/reference.png")), cv2.IMREAD_COLOR)
    return np.ascontiguousarray(image[..., ::-1])
