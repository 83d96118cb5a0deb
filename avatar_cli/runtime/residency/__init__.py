"""Where a network's weights are while it runs and while it waits."""

from avatar_cli.runtime.residency.plain import PlainResidency
from avatar_cli.runtime.residency.protocol import Residency, resident

__all__ = ["PlainResidency", "Residency", "resident"]
