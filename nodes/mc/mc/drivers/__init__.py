"""The parallel filesystems that the commands can work with: each is a module that has what driver.Driver says.

All that a cluster owns and mounts is of one driver, as its daemons and its keys are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc.config import Config
from mc.drivers import gluster
from mc.native import Refused

if TYPE_CHECKING:
    from mc.drivers.driver import Driver

BY_NAME: dict[str, Driver] = {"gluster": gluster}
DEFAULT = next(iter(BY_NAME))


def of(config: Config) -> Driver:
    """A cluster's driver, which is chosen when it is made."""
    name = config.settings.get("driver", DEFAULT)
    if name not in BY_NAME:
        raise Refused(f"cluster {config.name} is of driver {name}, and these commands know {', '.join(BY_NAME)} only")
    return BY_NAME[name]
