import sys
from pathlib import Path

import pytest

from avatar_cli.families.synthetic.size_file import read_size
from avatar_cli.families.synthetic.sizes import SyntheticSize

sys.path.insert(0, str(Path(__file__).parent))

TINY = Path(__file__).parents[3] / "configs" / "synthetic" / "tiny.yaml"


@pytest.fixture(scope="session")
def tiny() -> SyntheticSize:
    return read_size(TINY)
