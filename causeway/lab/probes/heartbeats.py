"""Who hears whom by multicast, over minutes: a program on each node that sends heartbeats and notes those it hears."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from causeway.lab.lab import Lab
from causeway.process import Background, start

#: Ganglia's group and port; how often a node says that it is there, and after which silence it counts as down (seconds:
#: gmond.conf, heartbeat and four times that).
GROUP, PORT = "239.2.11.71", 8649
EVERY_S, SILENT_S = 20.0, 80.0
#: How often a querier asks (seconds; RFC 3376, query interval).
QUERY_S = 125.0
#: Until all programs run; on the lab's clock, where starting one takes no time.
_SETUP_S, _PATIENCE_S = 1.0, 60


@dataclass(frozen=True)
class Heard:
    """When each node heard each other, and itself: seconds after all began."""

    times: dict[str, dict[str, list[float]]]

    def at(self, second: float) -> dict[str, int]:
        """How many each node has heard within the time after which they would be down."""
        return {
            node: sum(any(second - SILENT_S < at <= second for at in times) for times in peers.values())
            for node, peers in self.times.items()
        }

    def last_s(self, second: float = float("inf")) -> float:
        """When anybody heard anybody else for the last time, until then."""
        others = [times for node, peers in self.times.items() for peer, times in peers.items() if peer != node]
        return max((at for times in others for at in times if at <= second), default=0.0)


@dataclass(frozen=True)
class Beating:
    """Programs that run."""

    started: dict[str, Background]
    names: dict[str, str]
    for_s: float

    def heard(self) -> Heard:
        """What they heard, when they are done."""
        said = {
            node: json.loads(b.result(_SETUP_S + self.for_s + _PATIENCE_S).must()) for node, b in self.started.items()
        }
        return Heard({node: {self.names[own]: at for own, at in peers.items()} for node, peers in said.items()})


@contextmanager
def beating(
    lab: Lab, network: str, nodes: Sequence[str], for_s: float, querier: str | None = None
) -> Iterator[Beating]:
    """Have nodes send heartbeats in a network for so many seconds; one of them asks who is in the group, if wanted."""
    own = {node: str(lab.site.address(node, network)) for node in nodes}
    about = {"group": GROUP, "port": PORT, "begin": time.monotonic() + _SETUP_S, "for_s": for_s, "every_s": EVERY_S}
    with ExitStack() as stack:
        started = {}
        for node in nodes:
            request = json.dumps(about | {"own": own[node], "query_s": QUERY_S if node == querier else 0})
            started[node] = start(lab.plug(node, [sys.executable, "-m", "causeway.lab.probes.beats", request]))
            stack.callback(started[node].kill)
        yield Beating(started, {address: node for node, address in own.items()}, for_s)
