"""Pools: many nodes alike. `platform` says what they are, and which module of this folder knows them.

Such a module has: the form of the pool; `names` (its nodes) and `all_names` (all that it could have); `nodes`, `links`
and `check`.
"""

from types import ModuleType
from typing import Annotated, Any

from pydantic import Discriminator, Tag

from causeway.model.pools import bluegene, onesis, plain
from causeway.model.pools.bluegene import BlueGene
from causeway.model.pools.onesis import OneSis
from causeway.model.pools.plain import Plain

BY_PLATFORM: dict[str, ModuleType] = {"plain": plain, "bluegene": bluegene, "onesis": onesis}


def _platform(value: Any) -> Any:
    """A pool's platform, in the file or already read."""
    return str(value.get("platform", "plain") if isinstance(value, dict) else getattr(value, "platform", "plain"))


Pool = Annotated[
    Annotated[Plain, Tag("plain")] | Annotated[BlueGene, Tag("bluegene")] | Annotated[OneSis, Tag("onesis")],
    Discriminator(_platform, custom_error_type="platform", custom_error_message="There is no such platform"),
]
#: Those whose nodes boot over the network, from `boot.server`.
Diskless = BlueGene | OneSis


def names(pool: Pool) -> list[str]:
    """A pool's nodes."""
    found: list[str] = BY_PLATFORM[pool.platform].names(pool)
    return found


def booted(pool: Diskless) -> list[str]:
    """Those of the nodes of a pool that boots over the network that are up when the lab is."""
    found: list[str] = BY_PLATFORM[pool.platform].booted(pool)
    return found
