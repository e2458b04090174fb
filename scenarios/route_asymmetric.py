"""Answers that come back by another way are fine, until somebody turns the reverse-path filter on.

Claim: without a client's host route to a server, their packets go directly one way and through a gateway the other.
All pairs of nodes talk as before with rp_filter 0 and 2; with 1 these two do not, in either direction, for the server
drops what comes through the gateway. With the host route back, 1 drops nothing of it.

Cause: a strict filter takes a packet only by the interface by which the node itself would answer it; a loose one asks
for any route to the sender.

Source: Redpaper, "Routing setup for cross-cluster connectivity": host routes on the one side, nothing on the other;
Linux, networking/ip-sysctl.rst, rp_filter: "If using asymmetric routing ... then loose mode is recommended".
"""

from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.errors import Unsupported
from causeway.lab.changes.change import together
from causeway.lab.changes.settings import kernel_setting
from causeway.lab.faults import route_missing
from causeway.plan.paths import without_routes
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Detour
from causeway.scenario.stage import Stage
from causeway.scenario.words.mounts import unmount
from causeway.scenario.words.routes import computed_cut, computed_dropping, cut, dropping, recorded, round_trip

MODES = {0: "no filter", 2: "loose", 1: "strict"}


@dataclass(frozen=True)
class Cast:
    """A client with a host route to a server, all hosts, those that forward, and who sends from an unknown address."""

    pair: Detour
    hosts: list[str]
    forwarders: list[str]
    stranger: tuple[str, IPv4Address] | None


def cast(ask: Ask) -> Cast:
    ask.computable()
    (pair,) = ask.detours()
    stranger = ask.maybe(lambda: ask.stranger(pair.client))
    hosts, forwarders = ask.hosts(), ask.forwarders()
    if ask.site.topology.filesystems and computed_cut(ask.site, hosts, 1):
        raise Unsupported(
            f"{ask.site.name} has filesystems that a strict filter might cut off, with its routes as they are"
        )
    return Cast(pair, hosts, forwarders, stranger)


def play(stage: Stage, cast: Cast) -> None:
    lab, site, hosts, every = stage.lab, stage.site, cast.hosts, [*cast.hosts, *cast.forwarders]
    client, server, gateway, to = cast.pair.client, cast.pair.server, cast.pair.gateway, cast.pair.address
    own = site.known_by(client).address
    lacking = without_routes(site, [client], [to])

    def filter_everywhere(mode: int) -> None:
        settings = [kernel_setting(lab, node, "net.ipv4.conf.all.rp_filter", mode) for node in every]
        stage.make(together(f"rp_filter is {mode} on all nodes", settings))

    with stage.arrange(
        f"{client} has nothing mounted, whose packets would be counted, and every node filters strictly"
    ):
        unmount(stage, client)
        filter_everywhere(1)

    with stage.healthy("request and answer go as the routes say, and so does who can talk"):
        stage.same("request and answer", round_trip(site, server, client), recorded(stage, server, client))
        stage.same("pairs that cannot talk, strict", computed_cut(site, hosts, 1), cut(stage, hosts))

    with stage.perturb(f"{client} lacks its host route to {server}, and goes by {gateway}"):
        missing = stage.make(route_missing(lab, client, str(to)))

    rows = []
    for mode, name in MODES.items():
        with stage.observe(f"rp_filter is {mode} on all nodes: {name}"):
            filter_everywhere(mode)
            way = recorded(stage, server, client) if mode == 0 else []
            dropped = dropping(stage, every, client, own, to)
            unknown = dropping(stage, every, *cast.stranger, own) if cast.stranger else ""
            apart = cut(stage, hosts)  # last: half-open connections are tried again for a while, and dropped again

        with stage.judge(f"{name}: who cannot talk, and who drops what, is as computed"):
            stage.same(f"pairs that cannot talk, {name}", computed_cut(lacking, hosts, mode), apart)
            due = computed_dropping(lacking, client, own, server, to, mode)
            stage.same(f"who drops what comes by {gateway}, {name}", due, dropped)
            if cast.stranger:
                due = computed_dropping(lacking, *cast.stranger, client, own, mode)
                stage.same(f"who drops what has no way back, {name}", due, unknown)
            if mode == 0:
                stage.same("request and answer, route missing", round_trip(lacking, server, client), way)
        rows.append([f"{mode}, {name}", ", ".join(apart) or "none", dropped or "nobody", unknown or "nobody"])
    columns = ["rp_filter", "pairs cut", f"drops {client} to {server} by {gateway}", f"drops strangers to {client}"]
    stage.show(Table("What a reverse-path filter makes of it", columns, rows))

    with stage.contrast(f"with the host route back nothing of {client}'s is dropped, although all filter strictly"):
        missing.undo()
        stage.same("request and answer, route back", round_trip(site, server, client), recorded(stage, server, client))
        stage.same("pairs that cannot talk, strict, route back", computed_cut(site, hosts, 1), cut(stage, hosts))
        due = computed_dropping(site, client, own, server, to, 1)
        stage.same(f"who drops what comes from {client}, route back", due, dropping(stage, every, client, own, to))

    with stage.restore("no node filters, and the same pairs talk as ever"):
        stage.same("pairs that cannot talk, afterwards", computed_cut(site, hosts), cut(stage, hosts))
