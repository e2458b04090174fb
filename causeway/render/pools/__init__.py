"""What pools of nodes that do not start by themselves have rendered; `platform` says by which module of this folder.

Such a module has: `CALLED` (what its nodes' common keys are called), `node_container`, `server_container`,
`server_files`, `SHARED_FILES` and `known_hosts`.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from causeway.model.site import Site
from causeway.render.pools import bluegene, onesis
from causeway.render.secrets import Secrets
from causeway.render.text import Files

BY_PLATFORM: dict[str, ModuleType] = {"bluegene": bluegene, "onesis": onesis}


def _pools(site: Site) -> Iterator[tuple[str, Any, ModuleType]]:
    for name, pool in site.topology.pools.items():
        if pool.platform in BY_PLATFORM:
            yield name, pool, BY_PLATFORM[pool.platform]


def containers(site: Site) -> dict[str, dict[str, Any]]:
    """What is different in the containers of such nodes and their servers, by node, as containerlab has it."""
    found: dict[str, dict[str, Any]] = {}
    for name, pool, platform in _pools(site):
        found[pool.boot.server] = platform.server_container()
        found |= dict.fromkeys(site.nodes_of(name), platform.node_container())
    return found


def server_files(site: Site, node: str, secrets: Secrets, own: Files) -> Iterator[Files]:
    """What a node has beyond its own files for the pools that it serves."""
    for name, pool, platform in _pools(site):
        if pool.boot.server == node:
            yield platform.server_files(site, name, pool, secrets, own)


def shared_files(site: Site) -> Files:
    """What nodes and servers share beside the network."""
    found: Files = {}
    for _, _, platform in _pools(site):
        found |= platform.SHARED_FILES
    return found


def known_hosts(site: Site, pool: str, key: str) -> list[str]:
    """The lines of ssh_known_hosts for the nodes of a pool, which share a host key."""
    lines: list[str] = BY_PLATFORM[site.topology.pools[pool].platform].known_hosts(site, pool, key)
    return lines


def called(site: Site, owner: str) -> str:
    """What the keys of a node, or of a pool whose nodes share theirs, are called."""
    if owner not in site.topology.pools:
        return owner
    return str(BY_PLATFORM[site.topology.pools[owner].platform].CALLED)
