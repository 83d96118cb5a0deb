"""The reference, picture or video: which of the two is told by content."""

from pathlib import Path

from avatar_cli.media.image_in import Photo, load_photo, probe_image
from avatar_cli.media.input_path import check_is_file, unreadable
from avatar_cli.media.recording_kind import HEAD, is_recording
from avatar_cli.media.video_probe import probe_video
from avatar_cli.media.video_reference import ReferenceVideo


def is_video(path: Path) -> bool:
    """Whether it is to be read as a video.

    Raises:
        InputError: It cannot be read.
    """
    try:
        check_is_file(path)
        with path.open("rb") as file:
            return is_recording(file.read(HEAD))
    except OSError as error:
        raise unreadable(path, error) from error


def probe_reference(path: Path) -> tuple[int, int]:
    """Width and height as they are seen, having made sure that pixels can be decoded.

    Raises:
        InputError: as `probe_image` and `probe_video`.
    """
    found = probe_video(path) if is_video(path) else probe_image(path)
    return found.width, found.height


def load_reference(path: Path, enough: tuple[int, int]) -> Photo | ReferenceVideo:
    """A picture whole, a video opened; `enough` is the size of the video to be made.

    Raises:
        InputError: as `probe_reference`.
    """
    return ReferenceVideo(path, enough) if is_video(path) else load_photo(path, enough)
