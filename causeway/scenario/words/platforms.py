"""Two clusters at one filesystem's servers, for scenarios: what the network between them carries."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product

from causeway.model.site import Site
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.filesystems.spread import Direction
from causeway.plan.paths import Ways
from causeway.scenario.cast import Platforms
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import near_rates, together, towards

#: Seconds that streams transmit beside others: all are started one after the other, which takes one or two, and nuttcp
#: tells what they carried in steps of 64 KiB.
_STREAMS_S = 12.0
#: Who sends to whom, and in which network.
Stream = tuple[str, str, str]


def fairly(site: Site, cast: Platforms, senders: Iterable[str], servers: Sequence[str]) -> list[Stream]:
    """A stream from each leg of some nodes to a server's in the same network, to which it goes by that, in turn."""
    ways, used, found = Ways(site), Counter[tuple[str, str]](), list[Stream]()
    for sender, network in product(senders, cast.networks):
        if any(leg.network == network for leg in site.nodes[sender].interfaces.values()):
            able = [s for s in servers if ways.path(sender, site.address(s, network)).hops[0].network == network]
            to = min((used[server, network], place) for place, server in enumerate(able))[1]
            used[able[to], network] += 1
            found.append((sender, able[to], network))
    return found


def leg_mb(stage: Stage, cast: Platforms) -> float:
    """What a link in the servers' networks carries, in MB/s."""
    network = stage.site.topology.networks[cast.networks[0]]
    return tcp_goodput_mbit(network.rate_mbit, network.mtu) / 8


def carried_mb(stage: Stage, title: str, streams: Sequence[Stream], way: Direction) -> float:
    """What streams have together in MB/s, each beside its share; to read, servers send."""
    ends = streams if way == "write" else [(server, node, network) for node, server, network in streams]
    expected, measured = together(stage, towards(stage, ends), _STREAMS_S)
    rates = {m.stream.label: m.rate_mbit for m in measured}
    near_rates(stage, f"{title}, {way}", expected, rates)
    return sum(rates.values()) / 8
