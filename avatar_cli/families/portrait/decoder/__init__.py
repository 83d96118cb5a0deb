"""The portrait family's streaming decoder: frames of a speaking person, warped from one photo."""

from avatar_cli.families.portrait.decoder.renderer import PortraitRenderer

__all__ = ["PortraitRenderer"]
