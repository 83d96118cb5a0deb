"""`python -m avatar_cli.families.portrait.training`: train the portrait family's networks."""

import argparse
import os
import sys
from pathlib import Path

from avatar_cli.families.portrait.training.recipe import train


def main() -> int:
    """Read the arguments and train."""
    parser = argparse.ArgumentParser(
        prog="python -m avatar_cli.families.portrait.training", description=__doc__
    )
    parser.add_argument("--cache", type=Path, default=Path("build/training"), help="kept between runs")
    parser.add_argument("--output", type=Path, default=Path("assets/portrait"), help="folder for the weights")
    arguments = parser.parse_args()
    media = os.environ.get("AVATAR_TEST_MEDIA")
    if media is None:
        print(
            "AVATAR_TEST_MEDIA is not set: it must name the folder with speech, video and portraits",
            file=sys.stderr,
        )
        return 4
    train(Path(media), arguments.cache, arguments.output)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
