"""Gateways are taken away from a cluster that reaches a filesystem by them: who is there directly does not notice.

Claim: clients behind gateways have what the disks do while the gateways' links carry that, and meet the milestone's
target, 80 % of the least of network and disks. With few gateways they have what these links carry: for what is written
that is less than is required, 60 %, and for what is read, which the disks do slower, it is not. Clients on the servers'
networks need no gateway: while none forwards they meet the target, and the filesystem is theirs alone.

Cause: what clients and servers send each other goes by one of their gateways, and all gateways' links are shared.

Source: LLNL, milestone 464, "Background" (portals routers: without them a filesystem serves the cluster whose
interconnect it is on), "Demonstration Details": 16 routers before 14 servers with two links each; two clusters reach at
least 60 % of the least of network and disks, with 80 % as the target.
"""

from functools import partial
from math import inf

from causeway.scenario.cast import Ask, Platforms
from causeway.scenario.stage import Stage
from causeway.scenario.words.arrays import place
from causeway.scenario.words.mounts import mounted
from causeway.scenario.words.platforms import (
    TARGET_MET,
    TOO_LITTLE,
    Row,
    by_fewer,
    evenly,
    forwarding_off,
    judge,
    least_mb,
    leg_mb,
    show,
    work,
)

PATIENCE_S = 60
#: How many are left.
FEW = 3


def cast(ask: Ask) -> Platforms:
    return ask.platforms(gateways=6)


def play(stage: Stage, cast: Platforms) -> None:
    gateways, name, behind = cast.gateways, cast.filesystem, list(cast.by)
    link_mb, whole = leg_mb(stage, cast), str(len(cast.servers))
    files = {of[0]: evenly(stage.site, cast, of) for of in (behind, cast.direct)}
    rows: dict[str, Row] = {}

    def reached(node: str) -> str:
        return mounted(stage, node)[name].partition(" of ")[0]

    def all_reach() -> None:
        for node in behind:
            stage.until(f"servers that {node} reaches", partial(reached, node), is_=whole, within_s=PATIENCE_S)

    with stage.arrange("each client has empty files, as many on each server"):
        placed = place(stage, cast, [file for own in files.values() for file in own])

    def case(title: str, clients: list[str], most_mb: float = inf) -> Row:
        """What these clients have beside the least of what the network, with all gateways, and disks give them."""
        row = Row(work(stage, cast, placed, files[clients[0]], most_mb), least_mb(stage, cast, clients))
        judge(stage, title, row)
        rows[title] = row
        return row

    def enough(title: str, clients: list[str]) -> None:
        stage.same(f"{title}: what is met", TARGET_MET, case(title, clients).seen)

    with stage.healthy(f"by all {len(gateways)} gateways a cluster has what the disks do"):
        enough("all gateways", behind)

    with stage.perturb(f"all but {FEW} are taken away"):
        change, site = by_fewer(stage, cast, gateways[:FEW])
        some = stage.make(change)

    with stage.judge("it has what the links of those that are left carry, which for writing is too little"):
        with stage.as_if(site):
            left = case(f"{FEW} gateways", behind, FEW * len(cast.networks) * link_mb)
        stage.same("what is written meets", TOO_LITTLE["write"], left.seen["write"])
        some.undo()

    with stage.perturb("no gateway forwards any more"):
        stage.defer(all_reach)  # what files are taken away by, whatever else happens
        off = stage.make(forwarding_off(gateways))

    with stage.judge("the filesystem is lost to who is behind them, and has all for who is there directly"):
        stage.until(f"servers that {behind[0]} reaches", partial(reached, behind[0]), is_="0", within_s=PATIENCE_S)
        stage.same(f"servers that {cast.direct[0]} reaches", whole, reached(cast.direct[0]))
        enough("direct, no gateway", cast.direct)

    with stage.contrast("with all gateways it is there again"):
        off.undo()
        all_reach()

    with stage.restore("all is as it was"):
        for node in (behind[0], cast.direct[0]):
            stage.same(f"servers that {node} reaches, afterwards", whole, reached(node))
        show(stage, "by the gateways that are left", "who", rows)
