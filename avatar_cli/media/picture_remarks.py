"""What a user may want to know of a picture file that is used all the same."""

from pathlib import Path

from avatar_cli.media.picture_file import open_picture
from avatar_cli.media.srgb import ProfileError, srgb_conversion

# What follows the first is a depth or gain map, or another size of the same.
_SECOND_IS_NO_PICTURE = ("MPO", "ICO", "ICNS", "CUR")


def picture_remarks(path: Path) -> tuple[str, ...]:
    """One sentence each: of several pictures one is used, colours may be off. Only the header is read.

    Raises:
        InputError: The file cannot be opened as a picture.
    """
    remarks = []
    with open_picture(path) as image:
        try:
            srgb_conversion(image)
        except ProfileError as error:
            remarks.append(f"The colour profile of {path} is not used, because {error}: colours may be off.")
        if image.format not in _SECOND_IS_NO_PICTURE and getattr(image, "is_animated", False):
            remarks.append(f"{path} holds several pictures: the first one is used.")
    return tuple(remarks)
