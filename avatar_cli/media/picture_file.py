"""Opens picture files, told by their content, and refuses what is no whole still picture."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from PIL import Image, UnidentifiedImageError
from PIL.ImageFile import ImageFile
from PIL.TiffImagePlugin import TiffImageFile

from avatar_cli.media.input_path import check_is_file, unreadable
from avatar_cli.media.no_picture import why_not_a_picture
from avatar_cli.protocol.errors import InputError

MOST_PIXELS = 80_000_000  # below the size at which Pillow itself suspects a decompression bomb

# Of what Pillow opens, the still pictures made of pixels. Left out are drawings, for which it starts an
# interpreter (EPS) or that it draws on Windows only (WMF), films, and containers of measurements. The common
# ones come first: for any other one Pillow imports all its plugins.
_COMMON = ("JPEG", "PNG", "BMP", "GIF", "PPM")
_MODERN = ("WEBP", "AVIF", "TIFF", "JPEG2000", "QOI")
_OF_PROGRAMS = ("PSD", "TGA", "ICO", "ICNS", "CUR", "DIB", "DDS", "PCX", "DCX", "GBR", "PIXAR", "FLI")
_OF_OLD_MACHINES = ("SGI", "SUN", "XBM", "XPM", "XVTHUMB", "MSP", "PCD", "BLP", "FTEX", "FITS", "SPIDER")
FORMATS = (*_COMMON, *_MODERN, *_OF_PROGRAMS, *_OF_OLD_MACHINES)

_DNG_VERSION_TAG = 50706
_SUBFILE_TYPE_TAG = 254
_THUMBNAIL = 1  # bit of the subfile type (TIFF 6.0, section 8): a smaller copy of another picture in the file


@contextmanager
def open_picture(path: Path) -> Iterator[ImageFile]:
    """The picture of a file, its header read and its pixels not.

    Raises:
        InputError: The file cannot be read, is no picture of FORMATS, or has over MOST_PIXELS.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow's remarks on odd metadata
        with _open(path) as image:
            if image.width * image.height > MOST_PIXELS:
                raise _too_large(path)
            if isinstance(image, TiffImageFile) and _is_camera_raw(image):
                raise InputError(
                    f"{path} is a camera's raw file, which avatar cannot decode: export it as JPEG."
                )
            yield image


def decode(path: Path, image: ImageFile) -> None:
    """Read the pixels of an opened picture.

    Raises:
        InputError: They are damaged or incomplete.
    """
    try:
        with _silenced() if isinstance(image, TiffImageFile) else nullcontext():
            image.load()
    except Exception as error:  # decoders raise whatever their parsing stumbles over
        raise _damaged(path, error) from error


@contextmanager
def _silenced() -> Iterator[None]:
    """Nothing on stderr: libtiff prints there what Pillow then raises, and an error is one sentence."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _open(path: Path) -> ImageFile:
    try:
        check_is_file(path)
        return Image.open(path, formats=FORMATS)
    except InputError:
        raise
    except Image.DecompressionBombError as error:
        raise _too_large(path) from error
    except UnidentifiedImageError as error:
        raise InputError(f"{path} {why_not_a_picture(path)}") from error
    except Exception as error:  # the same here, and Pillow's OSError has no number where the file is at fault
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(path, error) from error
        raise _damaged(path, error) from error


def _is_camera_raw(image: TiffImageFile) -> bool:
    """Raw files are TIFF, mostly with a thumbnail as their first picture."""
    kind = image.tag_v2.get(_SUBFILE_TYPE_TAG)
    return _DNG_VERSION_TAG in image.tag_v2 or (isinstance(kind, int) and bool(kind & _THUMBNAIL))


def _damaged(path: Path, error: Exception) -> InputError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return InputError(f"{path} is damaged ({reason}): save or download it again.")


def _too_large(path: Path) -> InputError:
    return InputError(f"{path} has over {MOST_PIXELS // 1_000_000} million pixels: make it smaller first.")
