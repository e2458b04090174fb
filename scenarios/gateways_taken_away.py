"""Gateways are taken away from a cluster that reaches a filesystem by them: who is there directly does not notice.

Claim: clients behind gateways have what the disks do while the gateways' links carry that, and from then on what these
links carry: half of them carry half. With too few it is not what is required, 60 % of the least of network and disks;
reading, which the disks do slower, takes fewer gateways than writing. Clients on the servers' networks have the disks'
rate all the time. Without any gateway the filesystem is theirs alone.

Cause: what clients and servers send each other goes by one of their gateways, and all gateways' links are shared.

Source: LLNL, milestone 464, "Background" (portals routers: without them a filesystem serves the cluster whose
interconnect it is on), "Demonstration Details": 16 routers before 14 servers with two links each; at least 60 % of
network and disks, 80 % as the target.
"""

from causeway.lab.changes.change import Change, Step
from causeway.scenario.cast import Ask, Platforms
from causeway.scenario.stage import Stage
from causeway.scenario.words.arrays import place
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.platforms import Row, by_fewer, disks_mb, files_of, judge, show, work

PATIENCE_S = 60
#: What part of the gateways is left, each a case.
PARTS = (2, 3, 4, 6)


def cast(ask: Ask) -> Platforms:
    return ask.platforms(gateways=PARTS[-1])


def play(stage: Stage, cast: Platforms) -> None:
    least, gateways, name = disks_mb(stage, cast), cast.gateways, cast.filesystem
    behind, direct = files_of(cast.by, cast.servers), files_of(cast.direct, cast.servers)
    whole = due_mounts(stage, cast.direct[0])[name]
    rows: dict[str, Row] = {}

    with stage.arrange("each client has an empty file on each server"):
        placed = place(stage, cast, [*behind, *direct])

    def by(n: int) -> None:
        change, site = by_fewer(stage, cast, gateways[:n])
        some = stage.make(change)
        with stage.as_if(site):
            rows[f"{n} gateways"] = Row(work(stage, cast, placed, behind), least)
            judge(stage, f"{n} gateways", rows[f"{n} gateways"])
        some.undo()

    def others(title: str) -> None:
        rows[title] = Row(work(stage, cast, placed, direct), least)
        judge(stage, title, rows[title])

    with stage.healthy(f"by all {len(gateways)} gateways a cluster has what the disks do, as has one without"):
        rows["all"] = Row(work(stage, cast, placed, behind), least)
        judge(stage, "all gateways", rows["all"])
        stage.same("what is met by all", {"write": "target met", "read": "target met"}, rows["all"].seen)
        others("directly")

    with stage.perturb("half of them are taken away, then more and more"):
        few = [len(gateways) // part for part in PARTS]

    with stage.judge("what is left of their links is what clients have, and too little in the end"):
        for n in few:
            by(n)
        last = rows[f"{few[-1]} gateways"]
        stage.same(f"what is met by {few[-1]}", {"write": "not met", "read": "not met"}, last.seen)

    with stage.perturb("no gateway forwards any more"):
        words = [f"echo {on} >/proc/sys/net/ipv4/ip_forward" for on in (0, 1)]
        there, back = (tuple(Step(node, ("sh", "-c", word)) for node in gateways) for word in words)
        off = stage.make(Change("no gateway forwards", there, back))

    with stage.judge("the filesystem is lost to who is behind them, and nobody else notices"):
        client, none = next(iter(cast.by)), f"0 of {len(cast.servers)}"
        stage.until(
            f"servers that {client} reaches", lambda: mounted(stage, client)[name], is_=none, within_s=PATIENCE_S
        )
        stage.same(f"servers that {cast.direct[0]} reaches", whole, mounted(stage, cast.direct[0])[name])
        others("directly, no gateway")

    with stage.contrast("with all gateways it is there again, as fast as at first"):
        off.undo()
        for client in cast.by:
            reached = lambda client=client: mounted(stage, client)[name]  # noqa: E731
            stage.until(f"servers that {client} reaches", reached, is_=whole, within_s=PATIENCE_S)
        rows["all again"] = Row(work(stage, cast, placed, behind), least)
        judge(stage, "all gateways again", rows["all again"])

    with stage.restore("all is as it was"):
        for client in (next(iter(cast.by)), cast.direct[0]):
            stage.same(f"servers that {client} reaches, afterwards", whole, mounted(stage, client)[name])
        show(stage, "by the gateways that are left", "who", rows)
