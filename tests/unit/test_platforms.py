"""A filesystem that clusters use by gateways and directly, and an archive: who is who, what that gives, what fails."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.lab.probes import sessions as probe
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.plan.paths import Ways
from causeway.plan.storage import between, dealt
from causeway.process import Result
from causeway.scenario.cast import Ask
from causeway.scenario.runner import Scenario, load
from causeway.scenario.stage import Stage
from causeway.scenario.words import archive, arrays
from causeway.scenario.words.archive import least_sessions, link_mb, required_mb
from causeway.scenario.words.arrays import File, Placed, Rate, computed_s
from causeway.scenario.words.platforms import Row, by_fewer, evenly, fairly, least_mb, verdict
from tests.unit.here import SITE, Here, noted, stand_in

SWGPFS = load_site(REPO / "topologies/swgpfs/site.yaml")
BOTH, ARCHIVE, SHARED = Ask(SWGPFS).platforms(), Ask(SWGPFS).archive(4), Ask(SWGPFS).shared(2)
NAMES = (
    "gateways_taken_away", "clients_added", "interfaces_shared", "fullest_server_bounds", "sessions_to_archive",
    "file_passed_on",
)  # fmt: skip
GATEWAYS, CLIENTS, INTERFACES, FULLEST, SESSIONS, PASSED = (load(name) for name in NAMES)


def together(site: Site, files: Sequence[File], way: Direction) -> float:
    """MB/s that such files have, each as large, until the last is done."""
    ends = {}
    for file in files:
        here, there = (site.known_by(node).address for node in (file.client, file.server))
        ends[file] = ((here, 1000 + BOTH.servers.index(file.server)), (there, 49152))
    done = computed_s(site, BOTH, ends, dict.fromkeys(files, 1.0), way)
    return len(files) / max(done.values())


def by(n: int) -> Site:
    """The site when clients go by so many gateways."""
    turns = {client: BOTH.gateways[place % n] for place, client in enumerate(BOTH.by)}
    return dealt(SWGPFS, {client: dict.fromkeys(BOTH.servers, gateway) for client, gateway in turns.items()})


# who is who


def test_one_cluster_is_behind_gateways_and_one_is_not() -> None:
    assert BOTH.by == {f"alc{n}": f"alcgw{n}" for n in range(1, 9)}
    assert BOTH.direct == [f"ubglio{n}" for n in range(1, 17)] and BOTH.networks == ["ga", "gb"]
    assert BOTH.servers == [f"levi{n}" for n in range(1, 10)] and BOTH.even == BOTH.servers[:8]


def test_who_moves_files_and_where_to() -> None:
    assert ARCHIVE.movers == [f"slic{n}" for n in range(1, 10)] and ARCHIVE.network == "h"
    assert ARCHIVE.archive == ["hpss1", "hpss2", "hpss3"] and ARCHIVE.servers == BOTH.servers
    assert {cluster: hosts[0] for cluster, hosts in SHARED.users.items()} == {
        "ALC": "alc1", "UBGL": "ubglio1", "SLIC": "slic1"
    }  # fmt: skip


def test_who_has_nothing_of_it_is_told_so() -> None:
    with pytest.raises(Unsupported, match="jubl has no filesystem of whole files on four disks that a cluster reaches"):
        Ask(SITE).platforms()
    with pytest.raises(Unsupported, match="reaches by 9 nodes that forward"):
        Ask(SWGPFS).platforms(gateways=9)
    with pytest.raises(Unsupported, match="jubl has no filesystem of whole files on disks, and four clients"):
        Ask(SITE).archive(4)
    with pytest.raises(Unsupported, match="planck has no filesystem of whole files"):  # striped, beside such a network
        Ask(load_site(REPO / "topologies/planck/site.yaml")).archive(4)
    with pytest.raises(Unsupported, match="jubl has no filesystem that two clusters mount"):
        Ask(SITE).shared(2)


def test_gateways_with_unlike_numbers_of_clients_are_not_taken() -> None:
    with pytest.raises(Unsupported, match="as many clients by each"):
        Ask(by(3)).platforms(gateways=3)


@pytest.mark.parametrize("n", [8, 4, 3, 2])
def test_dealt_anew_both_ways_are_by_the_same_gateway(n: int, tmp_path: Path) -> None:
    site = by(n)
    ways = Ways(site)
    used = {between(ways, client, server) for client in BOTH.by for server in BOTH.servers}
    assert used == set(BOTH.gateways[:n])
    assert by_fewer(Stage(Here(SWGPFS, tmp_path), random.Random(1)), BOTH, BOTH.gateways)[1].nodes == SWGPFS.nodes


def test_half_of_what_comes_to_a_server_is_at_each_of_its_legs() -> None:
    ways = Ways(SWGPFS)
    for server in BOTH.servers:
        legs = [ways.path(client, SWGPFS.known_by(server).address).hops[-1].network for client in BOTH.by]
        back = [ways.path(server, SWGPFS.known_by(client).address).hops[0].network for client in BOTH.by]
        assert legs == back and sorted(legs) == ["ga"] * 4 + ["gb"] * 4


def test_streams_are_dealt_to_interfaces() -> None:
    found = fairly(SWGPFS, BOTH, BOTH.gateways, BOTH.servers)
    assert len(found) == 16 and len({stream[1:] for stream in found}) == 16
    half = fairly(SWGPFS, BOTH, BOTH.gateways, BOTH.servers[:4])
    assert len(half) == 16 and len({stream[1:] for stream in half}) == 8
    ways = Ways(SWGPFS)
    assert all(ways.path(a, SWGPFS.address(b, to)).hops[0].network == to for a, b, to in half)


@pytest.mark.parametrize("clients", [list(BOTH.by), BOTH.direct])
def test_no_cable_is_nearly_full_where_disks_are_to_bound(clients: Sequence[str]) -> None:
    """Each is one file's alone."""
    ways, used = Ways(SWGPFS), Counter[str]()
    files = evenly(SWGPFS, BOTH, clients)
    assert Counter(file.server for file in files) == dict.fromkeys(BOTH.even, 2) and len(set(files)) == 16
    for file in files:
        hops = ways.path(file.client, SWGPFS.known_by(file.server).address).hops
        used.update(str(segment.cables[0]) for hop in hops if hop.network != "qsnet" for segment in hop.segments)
    assert set(used.values()) == {1}


# what it gives (MB/s of the lab: a tenth)


@pytest.mark.parametrize(("n", "written", "read"), [(8, 120, 88), (3, 65.6, 65.6), (2, 49.2, 49.2)])
def test_gateways_links_carry_so_much(n: int, written: float, read: float) -> None:
    files = evenly(SWGPFS, BOTH, list(BOTH.by))
    found = {way: together(by(n), files, way) for way in DIRECTIONS}
    assert found == {"write": pytest.approx(written, rel=0.003), "read": pytest.approx(read, rel=0.003)}


@pytest.mark.parametrize(("n", "written", "read"), [(2, 24.6, 24.6), (5, 61.6, 61.6), (16, 120, 88)])
def test_clients_links_carry_so_much(n: int, written: float, read: float) -> None:
    files = evenly(SWGPFS, BOTH, BOTH.direct[:n])
    assert len(set(Counter(file.client for file in files).values())) == 1
    found = {way: together(SWGPFS, files, way) for way in DIRECTIONS}
    assert found == {"write": pytest.approx(written, rel=0.003), "read": pytest.approx(read, rel=0.003)}


@pytest.mark.parametrize(
    ("clients", "written", "read"), [(list(BOTH.by), 120, 88), (BOTH.direct, 120, 88), (BOTH.direct[:2], 24.75, 24.75)]
)
def test_the_least_of_network_and_disks(clients: list[str], written: float, read: float, tmp_path: Path) -> None:
    found = least_mb(Stage(Here(SWGPFS, tmp_path), random.Random(1)), BOTH, clients)
    assert found == {"write": pytest.approx(written, rel=1e-3), "read": pytest.approx(read, rel=1e-3)}


def test_what_a_part_of_the_bound_is() -> None:
    found = [verdict(part) for part in (0.59, 0.6, 0.79, 0.8)]
    assert found == ["not met", "required met", "required met", "target met"]
    row = Row({"write": Rate(60, 50), "read": Rate(90, 30)}, {"write": 100, "read": 100})
    assert row.due == {"write": "required met", "read": "target met"}
    assert row.seen == {"write": "not met", "read": "not met"}


@pytest.mark.parametrize(
    ("written", "read", "due"),
    [
        (1810, 1197, [("143.7%", "107.7%", "target met"), ("129.5%", "97.2%", "required met")]),
        (1671, 1268, [("132.6%", "99.5%", "required met"), ("137.2%", "102.9%", "target met")]),  # the report: 137.1
    ],
)
def test_the_reports_own_percentages(written: float, read: float, due: list[tuple[str, str, str]]) -> None:
    row = Row({"write": Rate(written, written), "read": Rate(read, read)}, {"write": 14 * 150, "read": 14 * 110})
    assert [row.met(way) for way in DIRECTIONS] == due


def test_nine_links_make_the_gigabyte_and_eight_do_not(tmp_path: Path) -> None:
    stage = Stage(Here(SWGPFS, tmp_path), random.Random(1))
    assert required_mb(stage, ARCHIVE) == pytest.approx(100, rel=1e-4) and least_sessions(stage, ARCHIVE) == 9
    fewer = replace(ARCHIVE, movers=ARCHIVE.movers[:4])
    assert required_mb(stage, fewer) > 3 * link_mb(stage, fewer) and least_sessions(stage, fewer) == 4


def test_files_lie_on_servers_in_turn_or_as_their_names_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Driver:
        def holders(self, *_: Any) -> dict[str, str]:
            return {f"by-name.{n}": "levi1" for n in range(1, 4)} | {"by-name.4": "levi2", "on.1": "levi3"}

        def listening(self, *_: Any) -> dict[Any, str]:
            return {}

    monkeypatch.setattr(arrays, "driver_of", lambda *_: Driver())
    monkeypatch.setattr(Here, "on", lambda _, node, *argv, **__: Result((node, *argv), 0, "", ""))
    stage = Stage(Here(SWGPFS, tmp_path), random.Random(1))
    named = arrays.as_they_come(stage, BOTH, BOTH.direct[:4]).names
    assert [file.server for file in named] == ["levi1", "levi1", "levi1", "levi2"]
    assert named[File("ubglio4", "levi2")] == "/p/gbtest/by-name.4"
    assert arrays.place(stage, BOTH, [File("alc1", "levi3")]).names == {File("alc1", "levi3"): "/p/gbtest/on.1"}
    arrays.place(stage, BOTH, [File("alc1", "levi4")])
    assert [c.ok for c in stage.comparisons] == [True, False]


def test_a_sessions_rate_is_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = probe.Session("slic1", SWGPFS.address("hpss1", "h"), "/p/gbtest/x", 10)
    monkeypatch.setattr(probe, "run_all", lambda words, **_: [Result(tuple(words[0]), 0, "2.0\n", "")] * 2)
    assert probe.move(Here(SWGPFS, tmp_path), [session, session], "get") == [5 * 2**20 / 1e6] * 2


def test_each_session_has_a_file_of_its_own_and_an_archives_node_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[probe.Session] = []

    class Serving:
        def __init__(self, *_: Any) -> None:
            pass

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(archive, "serving", Serving)
    monkeypatch.setattr(archive, "move", lambda _, those, __: asked.extend(those) or [1.0] * len(those))
    names = {File(m, s): f"/{m}.{s}" for m, s in zip(ARCHIVE.movers, ARCHIVE.servers, strict=True)}
    stage = Stage(Here(SWGPFS, tmp_path), random.Random(1))
    assert archive.sessions(stage, ARCHIVE, Placed(names, {}), ARCHIVE.movers[:4], "get") == [1.0] * 4
    assert [session.file for session in asked] == ["/slic1.levi1", "/slic2.levi2", "/slic3.levi3", "/slic4.levi4"]
    hosts = [str(session.address) for session in asked]
    assert hosts[0] == hosts[3] and len(set(hosts)) == 3 and {session.mib for session in asked} == {112}


# what makes the checks fail


class Lab(Here):
    """Two clusters and an archive as computed, but for what is wrong."""

    def __init__(self, wrong: str, folder: Path) -> None:
        super().__init__(SWGPFS, folder)
        self.wrong, self.made, self.undone = wrong, list[str](), 0
        self.written, self.granted = 0, False

    @property
    def now(self) -> str:
        return ", ".join(self.made)

    def part(self, files: Sequence[File], title: str = "") -> float:
        """Of what is due, that files or streams have."""
        behind = bool(files) and files[0].client in BOTH.by
        direct = bool(files) and not behind
        chance = len(files) == 24
        wrong = {
            "all gateways are slow": behind and not self.made and not self.undone,
            "three are no worse": behind and "3 gateways" in self.now,
            "direct notices": direct and "forward" in self.now,
            "all are slow": len(files) == 16 and len({file.client for file in files}) == 16,
            "two are slow": len(files) == 16 and len({file.client for file in files}) == 2,
            "five are slow": len(files) == 15,
            "one disk is slow": len({file.server for file in files}) == 1,
            "two on each are slow": len(files) == 18,
            "one more is nothing": len(files) == 19,
            "chance is no worse": chance,
            "many are as few": len(files) == 37,
            "fairly is slow": title == "fairly",
            "half is all": title == "to half of the servers",
            "direct streams are slow": title == "directly",
            "afterwards is slow": title == "afterwards",
        }
        if self.wrong == "one disk is nearly slow":  # nearly as slow as it may be, and the others nearly as fast
            return 0.92 if wrong["one disk is slow"] else 1.08
        if self.wrong not in wrong or not wrong[self.wrong]:
            return 1.0
        return 1.4 if self.wrong in ("three are no worse", "one more is nothing", "half is all") else 0.5

    def mount_everywhere(self) -> None:
        """Nothing that a test looks at."""

    def grant(self) -> None:
        self.granted = True

    def deny(self) -> None:
        self.granted = False

    def new_mount(self, _: str) -> str:
        return "refused" if self.wrong == "the grant is no use" else "mounted"

    def digest(self, _: Stage, node: str, __: str) -> str:
        stale = {"a reader has the old one": self.written == 2, "the grant brings the old one": self.granted}
        old = self.wrong == "nobody reads it" or (node == "slic1" and stale.get(self.wrong, False))
        return "old" if old else f"sum{self.written}"

    def change(self, title: str) -> Change:
        def undone() -> None:
            self.made.remove(title)
            self.undone += 1

        return noted(title, lambda: self.made.append(title), undone)


def played(scenario: Scenario, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Stage:
    def work(stage: Stage, _: Any, __: Any, files: Sequence[File], *___: Any) -> dict[Direction, Rate]:
        due = {way: together(stage.site, files, way) for way in DIRECTIONS}
        return {way: Rate(mb, mb * lab.part(files)) for way, mb in due.items()}

    def carried_mb(_stage: Stage, title: str, streams: Sequence[Any], _way: Direction) -> float:
        legs = {stream[1:] for stream in streams}
        return min(len(legs), len(streams)) * 12.3755 * lab.part([], title)

    def some_fewer(_: Any, __: Any, gateways: Sequence[str]) -> tuple[Change, Site]:
        return lab.change(f"{len(gateways)} gateways"), by(len(gateways))

    def mounted(_: Stage, node: str) -> dict[str, str]:
        off = "forward" in lab.now
        lost = (off and node in BOTH.by and lab.wrong != "nothing is lost") or (off and lab.wrong == "all is lost")
        lost = lost or (lab.wrong == "it is not mounted again" and node == "slic1")
        lost = lost or (lab.wrong == "it stays away" and lab.undone > 1 and not off and node == "alc8")
        return {"gbtest": "0 of 9" if lost else "9 of 9"}

    def as_they_come(_: Any, __: Any, clients: Sequence[str]) -> Placed:
        servers = [*BOTH.servers, *BOTH.servers[:5] * 3]
        if lab.wrong == "chance is fair":
            servers = [*BOTH.servers * 2, *BOTH.servers[:6]]
        return Placed({File(*pair): "" for pair in zip(clients, servers, strict=True)}, {})

    def sessions(_stage: Stage, _cast: Any, _placed: Any, movers: Sequence[str], way: str) -> list[float]:
        one = 11.7685 if way == "get" else 10.0
        slow = {
            "one session is slow": len(movers) == 1,
            "nine are slow": len(movers) == 9 and way == "get",
        }
        fast = {"eight are enough": len(movers) == 8, "disks read more": way == "put"}
        return [one * (0.7 if slow.get(lab.wrong) else 1.3 if fast.get(lab.wrong) else 1.0)] * len(movers)

    words: dict[str, Any] = {
        "place": lambda *_: Placed({}, {}),
        "as_they_come": as_they_come,
        "work": work,
        "carried_mb": carried_mb,
        "by_fewer": some_fewer,
        "forwarding_off": lambda _: lab.change("none forward"),
        "mounted": mounted,
        "sessions": sessions,
        "take_away": lambda *_: None,
        "PATIENCE_S": 0.2,
        "digest": lab.digest,
        "Trust": lambda *_: lab,
    }
    stand_in(monkeypatch, scenario.play, {name: w for name, w in words.items() if name in scenario.play.__globals__})
    monkeypatch.setattr(Lab, "on", on)
    stage = Stage(lab, random.Random(1))
    try:
        scenario.play(stage, *scenario.cast_by(Ask(SWGPFS)))
    finally:
        lab.wrong = ""
        stage.undo()
    return stage


def on(lab: Lab, node: str, *argv: str, **_: Any) -> Result:
    if argv[0] == "touch":
        told = "" if lab.wrong == "it works on" else "touch: x: Transport endpoint is not connected"
        return Result(argv, 1, "", told)
    if argv[0] == "sh":
        lab.written += 1
        return Result(argv, 0, f"sum{lab.written}", "")
    return Result((node, *argv), 0, "", "")


@pytest.mark.parametrize(
    ("scenario", "wrong", "said"),
    [
        (GATEWAYS, "all gateways are slow", "all gateways: write"),
        (GATEWAYS, "three are no worse", "3 gateways: write"),
        (GATEWAYS, "nothing is lost", "servers that alc1 reaches"),
        (GATEWAYS, "all is lost", "servers that ubglio1 reaches"),
        (GATEWAYS, "direct notices", "direct, no gateway: write"),
        (GATEWAYS, "it stays away", "servers that alc8 reaches"),
        (CLIENTS, "all are slow", "16 clients: write"),
        (CLIENTS, "two are slow", "2 clients: write"),
        (CLIENTS, "five are slow", "5 clients: write"),
        (INTERFACES, "fairly is slow", "fairly, write: in links"),
        (INTERFACES, "half is all", "to half of the servers, write: in links"),
        (INTERFACES, "direct streams are slow", "directly, write: in links"),
        (INTERFACES, "afterwards is slow", "afterwards, write: in links"),
        (FULLEST, "one disk is slow", "one disk: write"),
        (FULLEST, "one disk is nearly slow", "18 files, write: in rates of one disk"),
        (FULLEST, "two on each are slow", "18 files: write"),
        (FULLEST, "one more is nothing", "19 files: write"),
        (FULLEST, "chance is no worse", "24 files by chance: write"),
        (FULLEST, "chance is fair", "twice as many as another"),
        (FULLEST, "many are as few", "37 files: write"),
        (SESSIONS, "one session is slow", "1 sessions get"),
        (SESSIONS, "nine are slow", "9 sessions get"),
        (SESSIONS, "eight are enough", "8 sessions get"),
        (SESSIONS, "disks read more", "no more than disks read"),
        (PASSED, "nobody reads it", "alc1 wrote: SHA-256 at alc1"),
        (PASSED, "a reader has the old one", "ubglio1 wrote: SHA-256 at slic1"),
        (PASSED, "it works on", "what slic1 is told"),
        (PASSED, "the grant is no use", "a new mount"),
        (PASSED, "it is not mounted again", "what slic1 of SLIC has mounted"),
        (PASSED, "the grant brings the old one", "granted: SHA-256 at slic1"),
    ],
)
def test_each_check_can_fail(
    scenario: Scenario, wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        played(scenario, Lab(wrong, tmp_path), monkeypatch)


@pytest.mark.parametrize("scenario", [GATEWAYS, CLIENTS, INTERFACES, FULLEST, SESSIONS, PASSED], ids=NAMES)
def test_what_is_computed_is_what_is_claimed(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = played(scenario, Lab("", tmp_path), monkeypatch)
    assert len(stage.comparisons) >= 7 and all(c.ok for c in stage.comparisons)
