"""Where a network's weights are while it runs and while it waits."""

from avatar_cli.runtime.memory_budget import Keep
from avatar_cli.runtime.residency.choice import Placement, Use, place
from avatar_cli.runtime.residency.copy_engine import CopyEngine
from avatar_cli.runtime.residency.plain import PlainResidency
from avatar_cli.runtime.residency.protocol import Residency, resident

__all__ = ["CopyEngine", "Keep", "Placement", "PlainResidency", "Residency", "Use", "place", "resident"]
