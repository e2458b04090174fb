"""Storage behind servers that forward: who goes by whom, what that gives, and what makes three scenarios fail."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.files import Share, bound_mb, disk_share, each_mb, spread
from causeway.plan.filesystems.spread import Direction
from causeway.plan.paths import Ways, at_rate, without_routes
from causeway.plan.storage import between, dealt
from causeway.plan.streams import StreamEnds
from causeway.process import Result
from causeway.scenario.cast import Ask, Forwarded
from causeway.scenario.runner import Scenario, load
from causeway.scenario.stage import Stage
from causeway.scenario.words import routes, storage
from causeway.scenario.words.files import Both, Outcome
from causeway.scenario.words.storage import Beside
from tests.unit.here import SITE, Here, noted

DCS = load_site(REPO / "topologies/dcs9900/site.yaml")
STORAGE = Ask(DCS).forwarded(3)
BLOCKED = Ask(DCS).blocked(STORAGE)
WAYS: tuple[Direction, ...] = ("write", "read")
ADDED, BLOCKING, MESSAGES = (load(name) for name in ("servers_added", "uplink_blocking", "messages_beside_files"))


def shares(site: Site, client: str, way: Direction) -> list[Share]:
    """A client's one connection to the array, in the direction of the data."""
    (server,) = site.servers(STORAGE.filesystem)
    own, there = ((site.known_by(node).address, 49152) for node in (client, server))
    ends = StreamEnds(client, *((client, own, there) if way == "write" else (server, there, own)))
    part = spread(site, STORAGE.filesystem, way).part
    return [Share(ends, part, disk_share(site, STORAGE.filesystem, server, way))]


def due(site: Site, clients: Sequence[str], way: Direction) -> float:
    """MB/s of some clients that work at once, together."""
    return bound_mb(site, {client: shares(site, client, way) for client in clients})


def beside(site: Site, couples: Sequence[tuple[str, str]]) -> float:
    """MB/s that all clients read while messages pass."""
    ends = [
        StreamEnds(f"{n}", one, (site.address(one, "ib"), 5000 + n), (site.address(other, "ib"), 6000 + n))
        for n, (one, other) in enumerate(couples)
    ]
    clients = {client: shares(site, client, "read") for client in STORAGE.clients}
    due = each_mb(site, clients | {end.label: [Share(end, 1.0)] for end in ends})
    return sum(due[client] for client in clients)


def to_dcs(by: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """By whom each client goes to the array, as it is dealt."""
    return {client: {"dcs": gateway} for client, gateway in by.items()}


# who goes by whom


def test_each_client_goes_by_one_server_both_ways() -> None:
    assert STORAGE.gateways == ["nsd1", "nsd2", "nsd3", "nsd4"]
    assert STORAGE.by["c1"] == STORAGE.by["c5"] == "nsd1" and STORAGE.by["c8"] == "nsd4"
    assert "mgt" not in STORAGE.clients


def test_who_is_answered_by_another_server_goes_by_none() -> None:
    site = without_routes(DCS, ["dcs"], [DCS.nodes["dcs"].routes[0].to])
    assert between(Ways(site), "c1", "dcs") is None  # straight back
    assert between(Ways(site), "c2", "dcs") == "nsd2"
    assert between(Ways(without_routes(DCS, ["c1"], ["fc"])), "c1", "dcs") is None
    with pytest.raises(Unsupported, match="dcs9900 has no filesystem on a disk that clients reach by 3 nodes that"):
        Ask(site).forwarded(3)


def test_where_the_disk_has_no_rate_nobody_plays() -> None:
    with pytest.raises(Unsupported, match="jubl has no filesystem on a disk"):
        Ask(SITE).forwarded(2)


def test_leaves_are_where_clients_share_too_slow_an_uplink() -> None:
    assert BLOCKED.far == Port("leaf3", "up")
    assert BLOCKED.leaves == {
        Port("leaf1", "up"): ["c1", "c2", "c3", "c4"],
        Port("leaf2", "up"): ["c5", "c6", "c7", "c8"],
    }
    for uplink in BLOCKED.leaves:
        with pytest.raises(Unsupported, match="no switches whose clients share an uplink"):
            Ask(at_rate(DCS, uplink, 484)).blocked(STORAGE)


def test_who_passes_messages_shares_the_servers_uplink_and_has_no_files() -> None:
    assert Ask(DCS).couples(STORAGE, BLOCKED, 2) == [("m1", "m3"), ("m2", "m4")]
    with pytest.raises(Unsupported, match="has not three hosts of no cluster at leaf3"):
        Ask(DCS).couples(STORAGE, BLOCKED, 3)


def test_dealt_anew_all_go_by_whom_they_should_both_ways() -> None:
    by = {client: STORAGE.gateways[place % 3] for place, client in enumerate(STORAGE.clients)}
    site = dealt(DCS, to_dcs(by))
    assert {client: between(Ways(site), client, "dcs") for client in by} == by
    assert dealt(site, to_dcs(STORAGE.by)).nodes == DCS.nodes
    assert site.nodes["mgt"] == DCS.nodes["mgt"]


def test_routes_are_changed_where_the_other_site_has_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, str, str]] = []

    def wrong(_: Any, *words: str) -> Change:
        made.append(words)  # type: ignore[arg-type]
        return Change("", (), ())

    monkeypatch.setattr(routes, "route_wrong", wrong)
    stage = Stage(Here(DCS, tmp_path), random.Random(1))
    change, site = storage.by_others(stage, STORAGE, {"dcs": ["nsd1", "nsd2", "nsd3"]})
    assert change.title == "clients go by nsd1 nsd2 nsd3"
    assert {client: between(Ways(site), client, "dcs") for client in ("c3", "c4")} == {"c3": "nsd3", "c4": "nsd1"}
    assert ("c4", "10.81.0.0/24", "10.80.0.1") in made and ("dcs", "10.80.1.4", "10.81.0.1") in made
    assert not [words for words in made if words[0] in ("c1", "c2", "c3", "mgt")]


# what it gives


@pytest.mark.parametrize(
    ("servers", "written", "read"), [(1, 14.9, 14.9), (2, 29.8, 29.8), (3, 44.7, 36.0), (4, 54.0, 36.0)]
)
def test_servers_links_add_up_until_the_array_bounds(servers: int, written: float, read: float) -> None:
    by = {client: STORAGE.gateways[place % servers] for place, client in enumerate(STORAGE.clients)}
    site = dealt(DCS, to_dcs(by))
    clients = STORAGE.clients[: 8 // servers * servers]
    found = {way: due(site, clients, way) for way in WAYS}
    assert found == {"write": pytest.approx(written, abs=0.1), "read": pytest.approx(read, abs=0.1)}


@pytest.mark.parametrize(
    ("uplink", "clients", "each"), [(242, 1, 14.9), (242, 4, 7.4), (161, 4, 4.95), (161, 1, 14.9), (484, 4, 13.5)]
)
def test_what_a_client_writes_is_a_part_of_its_link_by_the_blocking(uplink: int, clients: int, each: float) -> None:
    site = at_rate(DCS, next(iter(BLOCKED.leaves)), uplink)
    assert due(site, STORAGE.clients[:clients], "write") == pytest.approx(clients * each, abs=0.25)


@pytest.mark.parametrize(
    ("uplink", "streams", "read"), [(484, 8, 29.8), (242, 0, 29.8), (242, 8, 9.93), (726, 8, 36.0)]
)
def test_files_have_their_connections_part_of_an_uplink_beside_messages(uplink: int, streams: int, read: float) -> None:
    site = at_rate(DCS, BLOCKED.far, uplink)
    assert beside(site, [("m1", "m3"), ("m2", "m4")] * streams) == pytest.approx(read, abs=0.1)


# what makes the checks fail


class Block(Here):
    """The array and its servers as computed, but for what is wrong."""

    def __init__(self, wrong: str, folder: Path) -> None:
        super().__init__(DCS, folder)
        self.wrong = wrong
        self.undone = 0

    def on(self, node: str, *argv: str, **_: Any) -> Result:  # type: ignore[override]
        assert argv == ("rm", "-f", f"/gpfs0/io.{node}")
        return Result(argv, 0, "", "")

    def files(self, stage: Stage, _: Forwarded, clients: Sequence[str]) -> Both:
        def outcome(way: Direction) -> Outcome:
            bound = due(stage.site, clients, way)
            times = self.times(stage.site, len(clients), way)
            return Outcome(bound * times, bound, 1.0, spread(stage.site, STORAGE.filesystem, way))

        return Both(outcome("write"), outcome("read"))

    def read_beside(self, stage: Stage, _: Forwarded, couples: Sequence[tuple[str, str]]) -> Beside:
        site, wrong = stage.site, self.wrong
        bound, up = beside(site, couples), site.sends_mbit(BLOCKED.far)
        here = {
            "it has half of the array": up == 484 and not self.undone,
            "half an uplink is enough": up == 242 and not couples,
            "messages weigh nothing": up == 242 and bool(couples),
            "a wide uplink is too slow": up == 726,
        }
        times = (1.2 if "enough" in wrong or "nothing" in wrong else 0.8) if here.get(wrong) else 1
        links = 1 if wrong == "messages have one link" else 2
        sent = links * 14.89 if couples else 0.0
        return Beside(bound, bound * times, sent, sent)

    def times(self, site: Site, clients: int, way: Direction) -> float:
        used = {between(Ways(site), client, "dcs") for client in STORAGE.clients}
        up, far = (site.sends_mbit(port) for port in (next(iter(BLOCKED.leaves)), BLOCKED.far))
        whole = site.nodes == DCS.nodes and (up, far) == (242, 484)
        here = {
            "it is half of the array": whole and clients == 8 and not self.undone,
            "one server carries more": len(used) == 1,
            "two are no faster": len(used) == 2,
            "alone it has a part": clients == 1 and up == 242,
            "at a leaf nobody shares": clients == 4 and up == 242 and far == 484 and way == "read",
            "blocked, alone it has a part": clients == 1 and up == 161,
            "blocked, nobody shares": clients == 4 and up == 161,
            "not blocked it is": up == 484,
            "the servers' uplink is nobody's": far == 242,
            "it stays": whole and self.undone > 1,
        }
        return (1.2 if "more" in self.wrong or "nobody" in self.wrong else 0.8) if here.get(self.wrong) else 1

    def change(self, title: str) -> Change:
        def undone() -> None:
            self.undone += 1

        return noted(title, lambda: None, undone)


def played(scenario: Scenario, block: Block, monkeypatch: pytest.MonkeyPatch) -> Stage:
    def by_others(stage: Stage, cast: Forwarded, gateways: Mapping[str, Sequence[str]]) -> tuple[Change, Site]:
        (those,) = gateways.values()
        by = {client: those[place % len(those)] for place, client in enumerate(cast.clients)}
        return block.change("dealt anew"), dealt(stage.site, to_dcs(by))

    def slower(stage: Stage, ports: Sequence[Port], rate_mbit: int, what: str) -> tuple[Change, Site]:
        site = stage.site
        for port in ports:
            site = at_rate(site, port, rate_mbit)
        return block.change(what), site

    said = scenario.play.__globals__

    def next_hop(stage: Stage, client: str, _: Any) -> str:
        gateway = "nsd1" if block.wrong == "it stays" else STORAGE.by[client]
        return str(stage.site.address(gateway, "ib"))

    words: dict[str, Any] = {
        "next_hop": next_hop,
        "files": block.files,
        "read_beside": block.read_beside,
        "by_others": by_others,
        "slower": slower,
    }
    for name, word in words.items():
        if name in said:
            monkeypatch.setitem(said, name, word)
    stage = Stage(block, random.Random(1))
    scenario.play(stage, scenario.cast_by(Ask(DCS))[0])
    return stage


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("it is half of the array", "4 servers: write"),
        ("one server carries more", "1 servers: write"),
        ("two are no faster", "2 servers: write"),
        ("it stays", "whom the clients go by"),
    ],
)
def test_each_check_of_servers_added_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        played(ADDED, Block(wrong, tmp_path), monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("alone it has a part", "2:1, one client: write"),
        ("at a leaf nobody shares", "2:1, one leaf: read"),
        ("it is half of the array", "2:1, all: write"),
        ("blocked, alone it has a part", "3:1, one client: write"),
        ("blocked, nobody shares", "3:1, one leaf: write"),
        ("not blocked it is", "1:1, one leaf: write"),
        ("the servers' uplink is nobody's", "servers blocked, all: write"),
        ("it stays", "afterwards, one leaf: write"),
    ],
)
def test_each_check_of_uplink_blocking_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        played(BLOCKING, Block(wrong, tmp_path), monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("it has half of the array", "no messages: read"),
        ("half an uplink is enough", "half the uplink, no messages: read"),
        ("messages weigh nothing", "half the uplink, messages: read"),
        ("a wide uplink is too slow", "an uplink for all ports, messages: read"),
        ("messages have one link", "messages: in rates of a host's link"),
        ("it stays", "afterwards: write"),
    ],
)
def test_each_check_of_messages_beside_files_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        played(MESSAGES, Block(wrong, tmp_path), monkeypatch)


@pytest.mark.parametrize("scenario", [ADDED, BLOCKING, MESSAGES], ids=lambda scenario: scenario.name)
def test_what_is_computed_is_what_is_claimed(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ratios that the claim is about, which no plan has computed."""
    stage = played(scenario, Block("", tmp_path), monkeypatch)
    claimed = [c for c in stage.comparisons if "rates of" in c.what]
    assert len(claimed) >= 5 and all(c.ok for c in claimed)
