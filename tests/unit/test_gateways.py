"""Gateways to a filesystem, and nodes on its storage's own network: who goes by whom, and what makes scenarios fail."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.files import Share, bound_mb, each_mb, spread
from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.plan.paths import Ways, at_rate, path, without_routes
from causeway.plan.storage import between, dealt
from causeway.plan.streams import StreamEnds, expect
from causeway.process import Result
from causeway.scenario.cast import Ask
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from causeway.scenario.words import gateways as words
from causeway.scenario.words import storage
from causeway.scenario.words.files import Both, Outcome
from causeway.scenario.words.packets import ARRIVES, STALLS
from causeway.scenario.words.streams import Lone
from tests.unit.here import SITE, Here, noted

PLANCK = load_site(REPO / "topologies/planck/site.yaml")
GATEWAYS = Ask(PLANCK).gateways(3)
SERVERS = PLANCK.servers("ngf")


def shares(site: Site, client: str, way: Direction) -> list[Share]:
    """A client's connections, to all servers or to those that have its file, from where it reaches each."""
    due, used = spread(site, "ngf", way), SERVERS[len(client) % 2 :] if way == "read" else SERVERS
    found = []
    for place, server in enumerate(used[: due.connections]):
        to = site.known_by(server).address
        leg = path(site, client, to).hops[0].sender.device
        own, there = (site.nodes[client].interfaces[leg].address, 1000 + place), (to, 49152)
        ends = (client, own, there) if way == "write" else (server, there, own)
        found.append(Share(StreamEnds(f"{client} {way}s {server}", *ends), due.part))
    return found


def due_mb(site: Site, clients: Sequence[str], way: Direction) -> float:
    return bound_mb(site, {client: shares(site, client, way) for client in clients})


# who is there


def test_each_client_has_a_gateway_of_its_own_before_one_cable_for_all() -> None:
    assert GATEWAYS.by == {"pc11": "pgw1", "pc21": "pgw2", "pc31": "pgw3", "pc41": "pgw4"}
    assert GATEWAYS.narrow == Port("nersc10g", "ngf")
    with pytest.raises(Unsupported, match="planck has no striped filesystem that clients reach by five nodes"):
        Ask(PLANCK).gateways(5)
    with pytest.raises(Unsupported, match="before a cable for all"):
        Ask(at_rate(PLANCK, GATEWAYS.narrow, 4000)).gateways(3)


@pytest.mark.parametrize("by", [["pgw1"], ["pgw1", "pgw2"], ["pgw1", "pgw2", "pgw3"], ["pfc1"], ["pfc1", "pfc2"]])
def test_dealt_anew_all_go_by_whom_they_should_both_ways(by: list[str]) -> None:
    to = {client: by[place % len(by)] for place, client in enumerate(GATEWAYS.clients)}
    site = dealt(PLANCK, {client: dict.fromkeys(SERVERS, gateway) for client, gateway in to.items()})
    assert {client: {between(Ways(site), client, s) for s in SERVERS} for client in to} == {
        c: {g} for c, g in to.items()
    }


def test_servers_beside_the_clients_are_in_each_arrays_network() -> None:
    private = Ask(PLANCK).private(2)
    assert private.servers == ["pfc1", "pfc2"]
    assert private.adapters["pfc2"]["ddn03"] == Port("pfc2", "fc3")
    with pytest.raises(Unsupported, match="planck has not three nodes of PLANCK in the networks"):
        Ask(PLANCK).private(3)


def test_whose_default_route_is_slower_and_whom_each_server_answers_by_its_own_node() -> None:
    slow = Ask(PLANCK).defaulted()
    assert (slow.client, slow.device, slow.other) == ("pc11", "ib0", "eth0")
    assert [route.to for route in slow.routes] == ["n", "s1", "s2", "s3", "s4"]
    with pytest.raises(Unsupported, match="a slower default route"):
        Ask(without_routes(PLANCK, PLANCK.nodes, ["default"])).defaulted()
    answered = Ask(PLANCK).answered()
    assert answered.client == "pc11" and answered.by["ddn02"] == ("nsd02", "10.20.3.0/26")
    assert {"pc21", "pc31", "pc41"} <= set(answered.others) and not {"pgw1", "pfc1"} & set(answered.others)
    with pytest.raises(Unsupported, match="jubl has no striped filesystem whose servers each answer"):
        Ask(SITE).answered()


def test_who_is_behind_a_gateway_of_shorter_packets() -> None:
    short = Ask(PLANCK).short()
    assert (short.client, short.gateway, short.server, short.mtu, short.other) == (
        "pc31",
        "pgw3",
        "ddn01",
        8192,
        "pc11",
    )
    jumbo = Ask(PLANCK).jumbo()
    assert (jumbo.full, jumbo.short) == (("pgw1", "pgw2"), ("pgw3", "pgw4"))
    assert jumbo.far.startswith("nsd")
    for question in (Ask(SITE).short, Ask(SITE).jumbo):
        with pytest.raises(Unsupported, match="jubl has no"):
            question()


def test_another_cluster_is_beside_them_where_its_wire_is_wider_than_the_cable() -> None:
    assert Ask(PLANCK).beside(GATEWAYS) == "franklin"
    with pytest.raises(Unsupported, match="planck has no client of another cluster than PLANCK by nersc10g:ngf"):
        Ask(at_rate(PLANCK, Port("franklin", "eth0"), 1000)).beside(GATEWAYS)


def test_nobody_has_two_transports_by_one_gateway() -> None:
    with pytest.raises(Unsupported, match="planck has no filesystem whose servers 4 clients reach"):
        Ask(PLANCK).transports(4)


# what it gives


@pytest.mark.parametrize(("n", "written", "read"), [(1, 91.2, 121.6), (2, 182.3, 243.1), (4, 182.3, 243.1)])
def test_gateways_links_add_up_until_the_cable_bounds(n: int, written: float, read: float) -> None:
    to = {client: GATEWAYS.gateways[place % n] for place, client in enumerate(GATEWAYS.clients)}
    site = dealt(PLANCK, {client: dict.fromkeys(SERVERS, gateway) for client, gateway in to.items()})
    found = {way: due_mb(site, GATEWAYS.clients, way) for way in DIRECTIONS}
    assert found == {"write": pytest.approx(written, abs=0.1), "read": pytest.approx(read, abs=0.1)}


def test_four_adapters_carry_what_the_slowest_does_three_times() -> None:
    assert due_mb(PLANCK, ["pfc1"], "write") == pytest.approx(124.0, abs=0.1)
    assert due_mb(at_rate(PLANCK, Port("pfc1", "fc4"), 170), ["pfc1"], "write") == pytest.approx(62.0, abs=0.1)
    down = replace(PLANCK, down=frozenset(Port("pfc1", f"fc{k}") for k in range(1, 5)))
    assert due_mb(down, ["pfc1"], "write") == pytest.approx(91.2, abs=0.1)


# what makes the checks fail


class Lab(Here):
    """planck as computed, but for what is wrong."""

    def __init__(self, wrong: str, folder: Path) -> None:
        super().__init__(PLANCK, folder)
        self.wrong = wrong
        self.stage = Stage(self, random.Random(1))
        self.anew = 0  # how often somebody has mounted anew
        self.asked: dict[str, int] = {}

    def times(self, title: str) -> int:
        """How often something was asked before."""
        self.asked[title] = self.asked.get(title, -1) + 1
        return self.asked[title]

    def on(self, _node: str, *argv: str, **_: Any) -> Result:  # type: ignore[override]
        if argv[:3] == ("ip", "route", "get"):
            return Result(argv, 0, "x mtu 9000" if self.wrong == "it learns nothing" else "x mtu 8192", "")
        return Result(argv, 0, "", "")

    def plug(self, _node: str, argv: Sequence[str]) -> list[str]:  # type: ignore[override]
        """Nothing is changed here."""
        if "mtu" in argv:  # the route that was there
            self.asked["undone"] = 1
        return ["true"]

    # files

    def files(self, stage: Stage, _: Any, clients: Sequence[str], __: float, tasks: int = 1) -> Both:
        def outcome(way: Direction) -> Outcome:
            bound = due_mb(stage.site, clients, way)
            return Outcome(bound * self.factor(stage.site, clients, tasks), bound, 1.0, spread(stage.site, "ngf", way))

        return Both(outcome("write"), outcome("read"))

    def lone_files(self, stage: Stage, _: Any, client: str, __: float) -> Both:
        return self.files(stage, _, [client], 0)

    def client_files(self, stage: Stage, cast: Any, device: str) -> Both:
        both = self.files(stage, cast, [cast.client], 0)
        slow = device == cast.other
        part = {
            "the default is fast": 10 if slow else 1,
            "it stays slow": 0.1 if self.anew > 1 else 1,
            "own routes are slow": 1 if slow else 0.5,
        }.get(self.wrong, 1)
        for outcome in both.ways.values():
            object.__setattr__(outcome, "measured_mb", outcome.measured_mb * part)
        return both

    def factor(self, site: Site, clients: Sequence[str], tasks: int) -> float:
        by = {between(Ways(site), client, SERVERS[0]) for client in GATEWAYS.clients}
        wide = site.sends_mbit(GATEWAYS.narrow) > 2000
        slow = site.sends_mbit(Port("ddn01", "eth0")) < 1600
        alone = list(clients) == ["pfc1"]
        whole = len(by) == 4 and not wide and not alone
        here = {
            "all have less": whole and not self.times("all"),
            "one gateway has more": by == {"pgw1"} and len(clients) > 1,
            "tasks count": tasks == 4 and len(clients) == 1,
            "both by one": "led" in self.asked,
            "they keep less": whole and "undone" in self.asked,
            "two are no faster": len(by) == 2 and by < set(GATEWAYS.gateways),
            "a third adds": len(by) == 3,
            "a wide cable is narrow": wide,
            "it has less itself": alone and site.sends_mbit(Port("pfc1", "fc4")) == 340,
            "through it they have less": by == {"pfc1"} and not slow,
            "two servers are one": by == {"pfc1", "pfc2"} and not slow,
            "slow arrays are slower": by == {"pfc1"} and slow,
            "slow arrays are fast": by == {"pfc1", "pfc2"} and slow,
            "an adapter counts for little": alone and site.sends_mbit(Port("pfc1", "fc4")) == 170,
        }
        return (
            (1.3 if {"more", "adds", "fast", "little"} & set(self.wrong.split()) else 0.7)
            if here.get(self.wrong)
            else 1
        )

    # words

    def said(self, name: str) -> dict[str, Any]:
        """What the scenarios say in place of their own words."""
        common: dict[str, Any] = {
            "files": self.files,
            "lone_files": self.lone_files,
            "client_files": self.client_files,
            "slower": self.slower,
            "mounted": self.mounted,
            "next_hop": self.next_hop,
            "mount_anew": self.mount_anew,
            "route_missing": lambda _, node, to: self.change(f"{node} lacks {to}"),
            "led_by": self.led_by,
            "together": lambda title, changes: self.change(title) if list(changes) else None,
            "link_silent": lambda _, node, device: self.change(f"{node}:{device}"),
            "carried_by": self.carried_by,
            "read_at_once": self.read_at_once,
            "write_each": lambda *_: None,
            "clear": lambda *_: None,
            "mc": self.mc,
            "digest": self.digest,
            "told": self.told,
            "one_write": self.one_write,
            "one_stream": self.one_stream,
            "largest_packet": self.largest_packet,
            "all_take": lambda *_: self.change("usual packets"),
            "nuttcp": self,
            "PATIENCE_S": 0.01,
        }
        own = SCENARIOS[name].play.__globals__
        return {word: value for word, value in common.items() if word in own}

    def servers(self, *_: Any) -> Any:
        return nullcontext()

    def change(self, title: str) -> Change:
        self.asked[title] = 0

        def undone() -> None:
            self.asked.pop("pgw1:ib0" if "silent" in title else title, None)
            self.asked["undone"] = 1

        return noted(title, lambda: None, undone)

    def slower(self, stage: Stage, ports: Sequence[Port], rate_mbit: int, what: str) -> tuple[Change, Site]:
        site = stage.site
        for port in ports:
            site = at_rate(site, port, rate_mbit)
        return self.change(what), site

    def missing(self) -> list[str]:
        return [title for title in self.asked if "lacks" in title]

    @contextmanager
    def led_by(self, stage: Stage, _: Any, by: Mapping[str, str]) -> Iterator[None]:
        self.asked["led"] = 0
        with stage.as_if(dealt(PLANCK, {client: dict.fromkeys(SERVERS, gateway) for client, gateway in by.items()})):
            yield
        del self.asked["led"]

    def mounted(self, _: Stage, node: str) -> dict[str, str]:
        if "pgw1:ib0" in self.asked:
            lost = node == "pc11" and self.wrong != "it loses nothing"
            lost &= "led" not in self.asked or self.wrong == "it does not come back"
            return {"ngf": "0 of 4" if lost or (node == "pc21" and self.wrong == "others lose it, too") else "4 of 4"}
        lacking = [title for title in self.missing() if title.startswith("nsd")]
        less = node == "pc11" and lacking and self.wrong != "it loses nothing"
        other = node == "pc21" and lacking and self.wrong == "others lose it, too"
        gone = node == "pc11" and self.wrong == "it does not mount" and bool(self.missing())
        last = self.wrong == "it does not come back" and "undone" in self.asked
        return {"ngf": "3 of 4" if less or other or gone or last else "4 of 4"}

    def mount_anew(self, *_: Any) -> None:
        self.anew += 1

    def next_hop(self, stage: Stage, node: str, to: IPv4Address) -> str:
        if self.wrong == "it stays":
            return "10.20.3.99"
        return str(path(stage.site, node, to).hops[0].next_hop)

    @contextmanager
    def carried_by(self, stage: Stage, node: str, devices: Sequence[str]) -> Iterator[Callable[[], Mapping[str, int]]]:
        """All by the device that its routes lead to."""
        first = path(stage.site, node, PLANCK.known_by("ddn01").address).hops[0].sender.device
        used = "ib0" if self.wrong == "it goes by the fast one" else first
        yield lambda: {device: 1000 * (device == used) for device in devices}

    def read_at_once(self, stage: Stage, _: Any, sizes: Mapping[str, int]) -> dict[str, tuple[float, float]]:
        clients = {node: shares(stage.site, node, "read") for node in sizes}
        due = each_mb(stage.site, clients)
        first, others = "franklin" not in sizes, len(sizes) == 5
        here = {
            "alone they have less": first and not self.times("alone"),
            "the other has more": others,
            "two have less": len(sizes) == 2,
            "they keep less": first and self.asked.get("alone", 0) > 0,
        }
        times = (1.3 if "more" in self.wrong else 0.7) if here.get(self.wrong) else 1
        return {node: (mb, mb * (times if node in ("franklin", "pc11") else 1)) for node, mb in due.items()}

    def mc(self, _: Any, __: str, *argv: str) -> Result:
        refused = argv[0] == "mcmount" and len(self.missing()) > 1 and self.wrong != "it mounts all the same"
        return Result(argv, int(refused), "", "too few")

    def digest(self, _: Stage, node: str, __: str) -> str:
        return "x" if node == "pc11" and self.wrong == "it reads something else" else "digest"

    def told(self, _: Stage, node: str) -> int:
        """Messages so far: one more each time that one is asked, for whom that is due."""
        asked = self.times(f"told {node}")
        by = {"the server is told": ["pc31", "ddn01"], "nobody is told": []}.get(self.wrong, ["pc31"])
        return asked if node in by else 0

    def one_write(self, _: Stage, node: str, to: IPv4Address, size: int) -> str:
        there = str(to)
        lost = "undone" not in self.asked and self.times(f"{node} {there} {size}") > 0
        reads = node == "ddn01" and there == "10.20.3.138" and size > 8140
        writes = node == "pc31" and size > 8140
        if self.wrong == "it stalls as built":
            return STALLS if reads and not lost else ARRIVES
        if self.wrong == "others stall" and there == "10.20.3.10" and lost:
            return STALLS
        if self.wrong == "it stalls afterwards" and reads and "undone" in self.asked:
            return STALLS
        if self.wrong == "writes stall" and writes and lost:
            return STALLS
        return STALLS if reads and lost and self.wrong != "reads arrive" else ARRIVES

    def largest_packet(self, _: Stage, node: str, __: Any, **_most: int) -> int:
        if self.wrong == "packets are smaller":
            return 1500
        return 8192 if node == "pc31" else 9000

    def one_stream(self, stage: Stage, sender: str, receiver: str, to: str = "", **_: Any) -> Lone:
        address = stage.site.address(receiver, to) if to else stage.site.known_by(receiver).address
        source = path(stage.site, sender, address).hops[0].sender
        own = stage.site.nodes[sender].interfaces[source.device].address
        due = expect(stage.site, [StreamEnds("s", sender, (own, 1), (address, 2))]).rates["s"]
        usual = "usual packets" in self.asked
        seen = tcp_goodput_mbit(1000, 1500) if usual else due
        slow = stage.site.sends_mbit(Port("pgw3", "eth6")) < 1000
        here = {
            "full packets are slow": (sender, receiver) == ("pgw1", "pgw2") and not usual,
            "far is slow": receiver.startswith("nsd"),
            "short packets are slow": receiver == "pgw3" and not slow,
            "both short are slow": (sender, receiver) == ("pgw3", "pgw4"),
            "a slow adapter is not seen": slow and sender == "pgw1",
            "usual packets are slow": usual,
            "it is slower with 8 K": receiver == "pc31",
            "the other pays": receiver == "pc11",
        }
        return Lone(due, "", seen * (0.95 if here.get(self.wrong) else 1), None)  # type: ignore[arg-type]


def played(name: str, wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    scenario, lab = SCENARIOS[name], Lab(wrong, folder)
    for word, value in lab.said(name).items():
        monkeypatch.setitem(scenario.play.__globals__, word, value)
    monkeypatch.setattr(words, "next_hop", lab.next_hop)
    monkeypatch.setattr(storage, "rerouted", lambda *_: Change("others", (), ()))
    cast = scenario.cast_by(Ask(PLANCK))[0]
    try:
        scenario.play(lab.stage, cast)
    finally:
        lab.stage.undo()
    return lab.stage


FAILS = {
    "gateways_added": {
        "all have less": "all gateways: write",
        "one gateway has more": "one gateway: write",
        "tasks count": "one client: write",
        "two are no faster": "2 gateways: write",
        "a third adds": "3 gateways: write",
        "a wide cable is narrow": "a wide cable: write",
        "it stays": "whom the clients go by",
    },
    "private_servers": {
        "one gateway has more": "a gateway: write",
        "it has less itself": "pfc1 itself: write",
        "through it they have less": "one server: write",
        "two servers are one": "two servers: write",
        "slow arrays are slower": "slow arrays, one server: write",
        "slow arrays are fast": "slow arrays, two servers: write",
        "an adapter counts for little": "pfc1 itself, a slow adapter: write",
        "it stays": "whom the clients go by",
    },
    "gateway_lost": {
        "all have less": "a gateway each: write",
        "it loses nothing": "servers of pc11",
        "others lose it, too": "servers of the others",
        "it reads something else": "what pc11 wrote",
        "it does not come back": "servers of pc11, by pgw2",
        "both by one": "both by one: write",
        "they keep less": "a gateway each again: write",
        "it stays": "whom the clients go by",
    },
    "shared_backend": {
        "alone they have less": "alone: pc11",
        "the other has more": "all: pc11",
        "two have less": "one of each: pc11",
        "they keep less": "alone again: pc11",
    },
    "subnets_unset": {
        "own routes are slow": "with its routes: write",
        "it does not mount": "by the default route: mounted",
        "it goes by the fast one": "by the default route: part of the bytes by eth0",
        "the default is fast": "by the default route: write",
        "it stays slow": "routes back: write",
    },
    "gateway_routes": {
        "it loses nothing": "one route missing: servers of pc11",
        "others lose it, too": "one route missing: servers of the others",
        "it reads something else": "the file, as pc11 reads it",
        "it mounts all the same": "the mount is refused",
        "it does not come back": "routes back: servers of pc11",
    },
    "gateway_mtu": {
        "packets are smaller": "largest packet from pc31",
        "it stalls as built": "as built: ddn01 to pc31",
        "reads arrive": "no MTU, it reads: ddn01 to pc31",
        "the server is told": "ICMP messages to the server",
        "writes stall": "no MTU, it writes: pc31 to ddn01",
        "nobody is told": "pc31 was told",
        "it learns nothing": "the MTU that it has learned",
        "others stall": "no MTU: ddn01 to pc11",
        "it stalls afterwards": "MTU back: ddn01 to pc31",
        "it is slower with 8 K": "one stream to pc31, 8 K",
        "the other pays": "one stream to pc11, full packets",
    },
    "jumbo_line_rate": {
        "full packets are slow": "full: pgw1 to pgw2",
        "far is slow": "more switches: pgw1 to nsd",
        "short packets are slow": "shorter packets: pgw1 to pgw3",
        "both short are slow": "shorter packets: pgw3 to pgw4",
        "a slow adapter is not seen": "nine tenths: pgw1 to pgw3",
        "usual packets are slow": "usual packets",
    },
}


SCENARIOS = {name: load(name) for name in FAILS}


@pytest.mark.parametrize(
    ("name", "wrong", "said"), [(name, wrong, said) for name, cases in FAILS.items() for wrong, said in cases.items()]
)
def test_each_check_can_fail(name: str, wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CheckFailed, match=said):
        played(name, wrong, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", FAILS)
def test_what_is_computed_is_what_is_claimed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = played(name, "", tmp_path, monkeypatch)
    assert len(stage.comparisons) >= 8 and all(comparison.ok for comparison in stage.comparisons)
