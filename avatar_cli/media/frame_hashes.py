"""One hash a frame, to compare renders picture by picture."""

import contextlib
import hashlib
from pathlib import Path
from typing import TextIO

import numpy as np
import numpy.typing as npt

from avatar_cli.protocol.errors import EnvironmentProblem

_DIGEST_BYTES = 16


def frame_hash(rgb: npt.NDArray[np.uint8]) -> str:
    """32 hexadecimal digits for the bytes of a frame [H, W, 3]: BLAKE2b with a digest of 16 bytes."""
    return hashlib.blake2b(np.ascontiguousarray(rgb).data, digest_size=_DIGEST_BYTES).hexdigest()


class FrameHashWriter:
    """Writes `frame_hash` of each frame as a line, no header, each line at once.

    Raises:
        EnvironmentProblem: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file: TextIO = path.open("w", buffering=1, encoding="ascii")
        except OSError as error:
            raise self._unwritten(error) from error

    def write_frame(self, rgb: npt.NDArray[np.uint8]) -> None:
        """Append the hash of one frame, RGB uint8 [H, W, 3]. Raises EnvironmentProblem."""
        try:
            self._file.write(frame_hash(rgb) + "\n")
        except OSError as error:
            raise self._unwritten(error) from error

    def close(self) -> None:
        """No more frames."""
        with contextlib.suppress(OSError):  # what could not be written was told when it came
            self._file.close()

    def _unwritten(self, error: OSError) -> EnvironmentProblem:
        return EnvironmentProblem(
            f"Frame hashes cannot be written to {self._path} ({error.strerror}): choose another file."
        )
