"""Messages between nodes in turns, timed: what a program sees of a network that waits for its answers."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from causeway.lab.lab import Lab
from causeway.process import start

PORT = 5020
#: Bytes that a connection may have under way: enough for the links that there are, and little to queue.
WINDOW = 256 * 1024
#: Until everybody listens and is connected; on the lab's clock, where starting a program takes no time.
_SETUP_S = 2.0
_PATIENCE_S = 60


@dataclass(frozen=True)
class Turn:
    """What a node does at one time: a message to each of some nodes, and one from each of some."""

    to: Sequence[str] = ()
    from_: Sequence[str] = ()


@dataclass(frozen=True)
class Round:
    """A node's turns, `times` over, from `at_s` on (seconds after the first moment at which all are ready)."""

    turns: Sequence[Turn]
    times: int
    at_s: float = 0.0


def exchange(lab: Lab, network: str, rounds: Mapping[str, Sequence[Round]], size: int) -> dict[str, list[list[float]]]:
    """Have nodes exchange messages of `size` bytes by their addresses in a network.

    Returns for each node and each of its rounds the ends of its turns, in seconds after the first moment at which all
    are ready. LabBroken where a node cannot do it.
    """
    begin = time.monotonic() + _SETUP_S
    with ExitStack() as stack:
        started = {}
        for node, parts in rounds.items():
            written = [_as_data(lab, network, part, begin) for part in parts]
            about = {"own": str(lab.site.address(node, network)), "port": PORT, "size": size, "window": WINDOW}
            request = json.dumps(about | {"rounds": written})
            started[node] = start(lab.plug(node, [sys.executable, "-m", "causeway.lab.probes.turns", request]))
            stack.callback(started[node].kill)
        longest = max(part.at_s for parts in rounds.values() for part in parts)
        ends = {node: json.loads(b.result(_SETUP_S + longest + _PATIENCE_S).must()) for node, b in started.items()}
    return {node: [[end - begin for end in part] for part in parts] for node, parts in ends.items()}


def _as_data(lab: Lab, network: str, part: Round, begin: float) -> dict[str, object]:
    def addresses(nodes: Sequence[str]) -> list[str]:
        return [str(lab.site.address(node, network)) for node in nodes]

    turns = [{"to": addresses(turn.to), "from": addresses(turn.from_)} for turn in part.turns]
    return {"at": begin + part.at_s, "times": part.times, "turns": turns}
