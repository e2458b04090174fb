"""Nodes whose time server they have no route to boot without a complaint, and never get a time.

Claim: when diskless nodes are given an NTP server to which they have no route, nothing in their boot says so, and
their chronyd stays without a time: reach 0, stratum 0. With a route in their start scripts the same server gives it.

Cause: NTP is UDP, and nobody waits for an answer.

Source: Redpaper, "Network Time Protocol": "If you use another NTP server, you also need to establish routing to that
server from the IONs".
"""

import re
from dataclasses import dataclass

from causeway.lab.changes.files import file_changed, replaced
from causeway.scenario.cast import Ask, AwayTime
from causeway.scenario.stage import Stage
from causeway.scenario.words.bluegene import start_script
from causeway.scenario.words.diskless import UP, boots, how_booted
from causeway.scenario.words.timekeeping import (
    BURST,
    NO_TIME,
    TIME,
    asks_once,
    serves_time,
    time_of,
    until_asked,
    until_timed,
)

CLOCK, ROUTES = start_script(14, "etc_ntp_conf"), start_script(14, "routes_to_federation")


@dataclass(frozen=True)
class Cast:
    """Diskless nodes, whom they boot from, whose time they take, and whose they could not."""

    nodes: list[str]
    server: str
    time_server: str
    away: AwayTime


def cast(ask: Ask) -> Cast:
    found = ask.diskless(2, platform="bluegene")
    return Cast(found.nodes, found.server, ask.time_server(found.nodes[0]), ask.away_time(found.nodes[0]))


def play(stage: Stage, cast: Cast) -> None:
    lab, server, nodes, away = stage.lab, cast.server, cast.nodes, cast.away
    own = stage.site.known_by(cast.time_server).address
    network = stage.site.topology.networks[away.network].subnet

    def judge_time(due: str, when: str) -> None:
        stage.same(f"the nodes' time, {when}", [due] * len(nodes), [time_of(stage, node) for node in nodes])

    with stage.arrange(f"{away.host} serves time, too"):
        stage.make(serves_time(lab, away.host))

    with stage.healthy(
        f"the nodes have the time of {cast.time_server}, and {away.host} answers who asks it for the time"
    ):
        until_timed(stage, nodes, own)
        judge_time(TIME, f"server {cast.time_server}")
        stage.holds(f"{away.near} gets {away.host}'s time", asks_once(stage, away.near, away.address))

    with stage.perturb(f"they are given {away.name}, to which they have no route, and booted again"):
        stage.make(replaced(lab, server, CLOCK, re.escape(str(own)), str(away.address)), then=boots(stage, nodes))

    with stage.observe(f"chronyd asks {BURST} times"):
        until_asked(stage, nodes)

    with stage.judge("the boot says nothing, and no node has a time"):
        stage.same("how the nodes booted", [UP] * len(nodes), how_booted(stage, nodes))
        judge_time(NO_TIME, "no route")

    with stage.contrast(f"with a route to {network} in the start script the same server gives them the time"):
        routes = lab.read(server, ROUTES) + f"/sbin/route add -net {network} gw {away.gateway}\n"
        stage.make(file_changed(lab, server, ROUTES, routes), then=boots(stage, nodes))
        until_timed(stage, nodes, away.address)
        judge_time(TIME, "route there")

    with stage.restore(f"they have the time of {cast.time_server} again"):
        until_timed(stage, nodes, own)
        judge_time(TIME, "afterwards")
