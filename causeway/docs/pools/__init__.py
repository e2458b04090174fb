"""What a lab's page has of a pool beyond its nodes, by platform: modules with `sections`."""

from types import ModuleType

from causeway.docs.pools import bluegene, onesis
from causeway.model.pools import Pool

_BY_PLATFORM: dict[str, ModuleType] = {"bluegene": bluegene, "onesis": onesis}


def sections(pool: Pool) -> list[str]:
    """The lines of its own sections."""
    module = _BY_PLATFORM.get(pool.platform)
    lines: list[str] = module.sections(pool) if module else []
    return lines
