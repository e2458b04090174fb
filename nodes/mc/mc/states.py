"""The states of nodes, and commands on many of them."""

import argparse
import socket
from pathlib import Path
from typing import Any

from mc import drivers, leases, native
from mc.config import Config, Node
from mc.native import Refused

ACTIVE, ARBITRATING, EXPELLED, DOWN, UNKNOWN = "active", "arbitrating", "expelled", "down", "unknown"
#: Where these commands are installed.
ROOT = Path(__file__).parents[1]
#: Those in which a node's daemon runs.
UP = (ACTIVE, ARBITRATING, EXPELLED)


def state_here(config: Config) -> str:
    """This node's state, by asking its own daemon and those of the quorum nodes; no file is looked at.

    active: it runs, and so do more than half of the quorum nodes'. arbitrating: it runs, and they do not, or do
    not answer to this cluster's key. expelled: its lease daemon runs, too, and says so, whatever the quorum does.
    """
    driver = drivers.of(config)
    if not driver.answers(config):
        return DOWN
    if leases.FAILURE_DETECTION in config.settings and leases.expelled():
        return EXPELLED
    mine = config.here().name
    quorum = [node.name for node in config.nodes if node.quorum]
    reached = native.side_by_side(lambda name: name == mine or driver.answers(config, name), quorum)
    return ACTIVE if sum(reached) > len(quorum) / 2 else ARBITRATING


def states(config: Config, nodes: list[Node]) -> list[str]:
    """The states of nodes; UNKNOWN of those that cannot be reached."""
    return [state for state, _ in states_and_levels(config, nodes)]


def states_and_levels(config: Config, nodes: list[Node], option: str = "") -> list[tuple[str, str]]:
    """The states of nodes; and with `option` -L the levels of their software ("" where it is not known)."""
    said = ask(config, nodes, f"mcgetstate --json {option}")
    return [(rows[0]["state"], rows[0].get("level", "")) if rows else (UNKNOWN, "") for rows in said]


def level_here(config: Config) -> str:
    """The level of this node's software: the driver's own, and a digest of these commands.

    Two nodes have one level where they have the same release of the driver, and these commands byte by byte.
    """
    import hashlib

    digest = hashlib.sha256()
    for file in sorted(file for folder in ("bin", "filter", "mc") for file in (ROOT / folder).rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return f"{drivers.of(config).level()}, mc {digest.hexdigest()[:8]}"


def ask(config: Config, nodes: list[Node], command: str) -> list[list[dict[str, Any]] | None]:
    """What each node answers to a command of ours that prints JSON; None of a node that cannot be reached.

    All are tried at the same time, so that those that are off keep nobody waiting for longer than one would.
    """
    import json

    mine = config.here()
    there = native.side_by_side(lambda node: node == mine or listens(node.address, 22), nodes, at_once=len(nodes) or 1)

    def answer(pair: tuple[Node, bool]) -> list[dict[str, Any]] | None:
        node, reached = pair
        said = _do(node, command, mine) if reached else None
        return json.loads(said.out) if said and said.rc == 0 else None

    return native.side_by_side(answer, list(zip(nodes, there, strict=True)))


def chosen(config: Config, names: str) -> list[Node]:
    """The members that NAME,NAME,... means."""
    return [config.node(name) for name in names.split(",")]


def need_all_down(config: Config, what: str) -> None:
    """Refused when a node's daemon is up."""
    found = zip(config.nodes, states(config, config.nodes), strict=True)
    if up := [node.name for node, state in found if state in UP]:
        raise Refused(f"{what} needs all daemons down, and {' '.join(up)} is up; first: mcshutdown -a")


def everywhere(config: Config, args: argparse.Namespace, command: str) -> None:
    """Do a command on many nodes; the quorum nodes go first, as the others ask them."""
    nodes = chosen(config, args.nodes) if args.nodes else config.nodes
    mine = config.here()
    failed: list[str] = []
    for group in ([n for n in nodes if n.quorum], [n for n in nodes if not n.quorum]):
        done = native.side_by_side(lambda node: _do(node, command, mine), group)
        for node, result in zip(group, done, strict=True):
            if result.rc == 0:
                print(result.out, end="", flush=True)
            else:
                failed.append(f"{node.name}: {result.said}")
    if failed:
        raise Refused("\n".join(failed))


def _do(node: Node, command: str, mine: Node) -> native.Result:
    return native.run(command.split()) if node == mine else native.ssh(node.name, command)


def listens(address: str, port: int) -> bool:
    """Whether somebody takes a connection there."""
    try:
        socket.create_connection((address, port), native.CONNECT_S).close()
    except OSError:
        return False
    return True
