"""A leaf switch is blocked: each of its nodes has its own link's rate alone, and a part of it beside its neighbours.

Claim: a node that works alone has all of its link; all nodes at one leaf have its uplink's rate among them, a half of
their links where that is blocked 2:1 and a third where it is 3:1. While nodes at all leaves work it is the array that
bounds, until the uplinks carry less than it writes. The storage servers' own leaf must not be blocked: their uplink is
everybody's.

Cause: what nodes of one leaf send to servers at another goes by one cable, and what is on it is shared fairly.

Source: GPFS Best Practices, "GPFS in iDataPlex": peak rate of a node 750 to 1500 MB/s depending on blocking, with 3:1
500 to 1500, beside 5.4 GB/s written and 3.6 read in all; "the blocking factor may limit storage server performance".
"""

from dataclasses import dataclass

from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.scenario.cast import Ask, Blocked, Forwarded
from causeway.scenario.stage import Made, Stage
from causeway.scenario.words.fabric import slower
from causeway.scenario.words.files import Both, judge_files
from causeway.scenario.words.storage import array_mb, clear, files, front_ports, judge_ratio, port_mb, show


@dataclass(frozen=True)
class Cast:
    """A filesystem behind servers that forward, and the switches between its clients and these."""

    storage: Forwarded
    blocked: Blocked

    @property
    def leaf(self) -> list[str]:
        """The clients at the first switch."""
        return next(iter(self.blocked.leaves.values()))


def cast(ask: Ask) -> Cast:
    storage = ask.forwarded(2)
    return Cast(storage, ask.blocked(storage))


def play(stage: Stage, cast: Cast) -> None:
    storage, leaf, uplinks, far = cast.storage, cast.leaf, list(cast.blocked.leaves), cast.blocked.far
    own_mb, most_mb = port_mb(stage, storage, leaf[0]), array_mb(stage, storage)
    own_mbit = stage.site.sends_mbit(front_ports(stage, storage, [leaf[0]])[0])
    built = len(leaf) * own_mbit / stage.site.sends_mbit(uplinks[0])
    rows: dict[str, Both] = {}

    def judge_leaf(title: str, clients: list[str], links: float) -> None:
        """Clients that together have so many links' rate, or the array's where that is less."""
        rows[title] = files(stage, storage, clients)
        judge_files(stage, title, rows[title])
        for way, outcome in rows[title].ways.items():
            due = min(links, most_mb[way] / own_mb)
            judge_ratio(stage, f"{title}, {way}", due, outcome.measured_mb, own_mb, "a client's link")

    def blocked(ports: list[Port], rate_mbit: int, what: str) -> tuple[Made, Site]:
        change, site = slower(stage, ports, rate_mbit, what)
        return stage.make(change), site

    stage.defer(lambda: clear(stage, storage), "the files are gone")
    with stage.healthy(f"leaves are blocked {built:g}:1: a client alone has its link, all at a leaf share the uplink"):
        judge_leaf(f"{built:g}:1, one client", leaf[:1], 1)
        judge_leaf(f"{built:g}:1, one leaf", leaf, len(leaf) / built)
        judge_leaf(f"{built:g}:1, all", storage.clients, len(storage.clients) / built)

    worse = built + 1
    with stage.perturb(f"they are blocked {worse:g}:1"):
        narrow, site = blocked(uplinks, round(len(leaf) * own_mbit / worse), f"leaves are blocked {worse:g}:1")

    with stage.judge("a client alone has its link all the same; together they have less"), stage.as_if(site):
        judge_leaf(f"{worse:g}:1, one client", leaf[:1], 1)
        judge_leaf(f"{worse:g}:1, one leaf", leaf, len(leaf) / worse)
        judge_leaf(f"{worse:g}:1, all", storage.clients, len(storage.clients) / worse)

    with stage.contrast("where nothing is blocked a leaf has all that the array gives"):
        narrow.undo()
        wide, site = blocked(uplinks, len(leaf) * own_mbit, "leaves are not blocked")
        with stage.as_if(site):
            judge_leaf("1:1, one leaf", leaf, len(leaf))
        wide.undo()

    with stage.perturb(f"leaves are as built, and the uplink of {far.node}, where the servers are, has half its rate"):
        half_mbit = stage.site.sends_mbit(far) // 2
        _, site = blocked([far], half_mbit, "the servers are blocked")

    with stage.judge("that one is everybody's"), stage.as_if(site):
        judge_leaf("servers blocked, all", storage.clients, half_mbit / own_mbit)

    with stage.restore("all at a leaf share its uplink as at first"):
        judge_leaf("afterwards, one leaf", leaf, len(leaf) / built)
        clear(stage, storage)
        show(stage, "by how leaves are blocked", "blocking", rows)
