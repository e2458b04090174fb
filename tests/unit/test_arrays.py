"""Disks behind servers of their own: who goes by whom, what that gives, and what makes the scenarios of them fail."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import BadInput, CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.changes import disks
from causeway.lab.changes.change import Change
from causeway.lab.filesystems import gluster
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.files import disk_share
from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.plan.paths import Ways, at_rate, path
from causeway.plan.storage import between, dealt, slowed
from causeway.process import Result
from causeway.scenario.cast import Arrays, Ask
from causeway.scenario.runner import Scenario, load
from causeway.scenario.stage import Stage
from causeway.scenario.words import arrays
from causeway.scenario.words.arrays import Both, Ends, File, Placed, Rate, carried_mb, computed_s, evenly
from tests.unit.here import SITE, Here, noted

DS3400, DS5300 = (load_site(REPO / f"topologies/{name}/site.yaml") for name in ("ds3400", "ds5300"))
FOUR, TWO = Ask(DS3400).arrays(3), Ask(DS5300).arrays(2, 3)
PORTS = Ask(DS5300).two_ports(TWO)
NAMES = ("arrays_added", "rebuild_in_one_pool", "servers_by_controller", "port_or_server_lost", "controller_lost")
ADDED, REBUILD, SERVERS, PORT, CONTROLLER = (load(name) for name in NAMES)


def ends(site: Site, cast: Arrays, files: Mapping[File, float]) -> dict[File, tuple[Any, Any]]:
    """A connection for each file."""

    def of(file: File) -> tuple[tuple[IPv4Address, int], tuple[IPv4Address, int]]:
        here, there = (site.known_by(node).address for node in (file.client, file.server))
        return (here, 1000 + cast.servers.index(file.server)), (there, 49152)

    return {file: of(file) for file in files}


def due(site: Site, cast: Arrays, files: Mapping[File, float], way: Direction) -> Ends:
    times = computed_s(site, cast, ends(site, cast, files), files, way)
    return Ends(files, times, times)


def by_servers(cast: Arrays, gateways: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    return {
        client: {server: those[place % len(those)] for server, those in gateways.items()}
        for place, client in enumerate(cast.clients)
    }


# who goes by whom


def test_each_array_is_behind_a_server_of_its_own() -> None:
    assert FOUR.clients == ["c1", "c2", "c3", "c4"] and FOUR.servers == ["ds1", "ds2", "ds3", "ds4"]
    assert [FOUR.gateways(server) for server in FOUR.servers] == [["nsd1"], ["nsd2"], ["nsd3"], ["nsd4"]]


def test_a_controller_is_behind_four_servers() -> None:
    assert TWO.gateways("ds-a") == ["nsd1", "nsd2", "nsd3", "nsd4"]
    assert TWO.gateways("ds-b") == ["nsd5", "nsd6", "nsd7", "nsd8"]
    assert TWO.by["c7"] == {"ds-a": "nsd3", "ds-b": "nsd7"}
    assert list(PORTS) == [*TWO.gateways("ds-a"), *TWO.gateways("ds-b")]
    assert all(channel.members == ["fca", "fcb"] and channel.at == "fcsw" for channel in PORTS.values())


def test_who_has_no_such_disks_is_told_so() -> None:
    with pytest.raises(Unsupported, match="jubl has no filesystem of whole files on three disks, each behind a node"):
        Ask(SITE).arrays(3)
    with pytest.raises(Unsupported, match=r"ds3400 has no .* on two disks, each behind three nodes that forward"):
        Ask(DS3400).arrays(2, 3)
    with pytest.raises(Unsupported, match="has not two ports to the disks"):
        Ask(DS3400).two_ports(FOUR)


def test_disks_that_share_a_server_are_not_taken() -> None:
    by = {client: {"ds1": "nsd2"} for client in [*FOUR.clients]}
    with pytest.raises(Unsupported, match="on three disks"):
        Ask(dealt(DS3400, by)).arrays(3)


def test_dealt_anew_each_controller_is_reached_by_its_own_both_ways() -> None:
    by = by_servers(TWO, {"ds-a": ["nsd1", "nsd2", "nsd3"], "ds-b": ["nsd8"]})
    site = dealt(DS5300, by)
    ways = Ways(site)
    assert all(between(ways, client, server) == g for client, own in by.items() for server, g in own.items())
    assert dealt(site, TWO.by).nodes == DS5300.nodes


def test_as_many_clients_by_each_server(tmp_path: Path) -> None:
    stage = Stage(Here(DS5300, tmp_path), random.Random(1))
    files = evenly(stage, TWO, {"ds-a": ["nsd1", "nsd2", "nsd3"], "ds-b": ["nsd5", "nsd6"]})
    assert [file.client for file in files if file.server == "ds-a"] == ["c1", "c2", "c3", "c4", "c5", "c6"]
    assert len(files) == 6 + 8 and set(files.values()) == {12}  # of 36 MB/s each has, 2.5 seconds


# what it gives (MB/s of the lab: a twenty-fifth, and a fiftieth)


@pytest.mark.parametrize(("n", "written", "read"), [(1, 25, 28.8), (2, 50, 57.5), (3, 75, 86.3), (4, 100, 115)])
def test_so_many_arrays_give_so_many_times_one(n: int, written: float, read: float) -> None:
    files = {File(client, server): 10.0 for client in FOUR.clients for server in FOUR.servers[:n]}
    found = {way: due(DS3400, FOUR, files, way).together().due for way in DIRECTIONS}
    assert found == {"write": pytest.approx(written, rel=0.003), "read": pytest.approx(read, rel=0.003)}


def test_one_pool_waits_for_the_array_that_rebuilds() -> None:
    site = slowed(DS3400, "gpfs0", "ds2", 0.5)
    share = disk_share(site, "gpfs0", "ds2", "write")
    assert share is not None and share.mb == 12.5
    pool = {File(client, server): 10.0 for client in FOUR.clients for server in FOUR.servers}
    own = {File(client, server): 40.0 for client, server in zip(FOUR.clients, FOUR.servers, strict=True)}
    assert due(site, FOUR, pool, "write").together().due == pytest.approx(50)
    assert due(site, FOUR, own, "write").apart().due == pytest.approx(87.5)
    assert due(site, FOUR, pool, "read").together().due == pytest.approx(60)


@pytest.mark.parametrize(
    ("at_a", "at_b", "written", "read"),
    [(1, 1, 28.8, 28.8), (2, 2, 57.5, 57.5), (3, 3, 86.3, 86.3), (3, 4, 88.1, 98.1), (4, 4, 90, 110)],
)
def test_a_servers_port_is_of_use_to_its_own_controller(
    at_a: int, at_b: int, written: float, read: float, tmp_path: Path
) -> None:
    gateways = {"ds-a": TWO.gateways("ds-a")[:at_a], "ds-b": TWO.gateways("ds-b")[:at_b]}
    site = dealt(DS5300, by_servers(TWO, gateways))
    stage = Stage(Here(site, tmp_path), random.Random(1))
    files = {file: float(size) for file, size in evenly(stage, TWO, gateways).items()}
    found = {way: due(site, TWO, files, way).apart().due for way in DIRECTIONS}
    assert found == {"write": pytest.approx(written, rel=0.003), "read": pytest.approx(read, rel=0.003)}


def test_what_some_had_until_the_last_of_them_was_done() -> None:
    one, two, three = File("c1", "a"), File("c2", "a"), File("c1", "b")
    seen = Ends({one: 10, two: 10, three: 30}, {one: 1, two: 2, three: 3}, {one: 2, two: 4, three: 5})
    assert seen.together() == Rate(50 / 3, 10)
    assert seen.by_server() == {"a": Rate(10, 5), "b": Rate(10, 6)} and seen.apart() == Rate(20, 11)


# what is asked of nodes, and told them


class Said(Here):
    """What nodes say, by the first word of a command."""

    said: Mapping[str, str] = {}

    def on(self, node: str, *argv: str, **_: Any) -> Result:  # type: ignore[override]
        return Result(argv, 0, self.said.get(f"{node} {argv[0]}", self.said.get(argv[0], "")), "")


def test_files_lie_where_bricks_have_them(tmp_path: Path) -> None:
    lab = Said(DS3400, tmp_path)
    lab.said = {"ds1 find": "on.c1.0\non.c2.3\n", "ds3 find": "on.c1.7\n"}
    assert gluster.holders(lab, "gpfs0") == {"on.c1.0": "ds1", "on.c2.3": "ds1", "on.c1.7": "ds3"}


def test_a_disks_arm_is_told_and_told_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Said(DS3400, tmp_path)
    monkeypatch.setattr(disks.Step, "take", lambda *_: "30000 25000 7 8\n")
    lab.said = {"findmnt": "/dev/loop3\n"}
    change = disks.disk_slowed(lab, "ds2", "gpfs0", 0.5)
    (there,), (back,) = change.there, change.back
    assert there.argv[-2:] == ("/sys/block/loop3/loop/arm", "15000 12500 7 8")
    assert back.argv[-1] == "30000 25000 7 8" and change.title == "the disk of gpfs0 at ds2 does 50% of what it could"
    lab.said = {"findmnt": "disk-gpfs0\n"}
    with pytest.raises(BadInput, match="does not say what the disk of gpfs0 at ds2 does"):
        disks.disk_slowed(lab, "ds2", "gpfs0", 0.5)


def test_each_client_keeps_one_file_on_each_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Driver:
        def holders(self, *_: Any) -> dict[str, str]:
            return {f"on.{n}": FOUR.servers[n % 4] for n in range(20)} | {"io.c1": "ds1"}

        def listening(self, *_: Any) -> dict[Any, str]:
            return {(IPv4Address("10.85.0.101"), 49152): "ds1"}

    monkeypatch.setattr(arrays, "driver_of", lambda *_: Driver())
    stage = Stage(Said(DS3400, tmp_path), random.Random(1))
    placed = arrays.place(stage, FOUR)
    lie = {file: FOUR.servers[int(name.removeprefix("/gpfs0/on.")) % 4] for file, name in placed.names.items()}
    assert lie == {file: file.server for file in lie} and len(set(placed.names.values())) == len(lie) == 16
    assert list(placed.daemons.values()) == ["ds1"] and all(c.ok for c in stage.comparisons)


# what makes the checks fail

#: What is wrong: the part of what is due that files have, by the changes that are made, the file, and the direction.
Wrong = Callable[["Block", Mapping[File, int], File, Direction], float]


class Block(Here):
    """Disks, servers and clients as computed, but for what is wrong."""

    def __init__(self, site: Site, cast: Arrays, wrong: str, folder: Path) -> None:
        super().__init__(site, folder)
        self.cast, self.wrong = cast, wrong
        self.made: list[str] = []
        self.undone = 0
        self.put_back: list[str] = []

    def times(self, files: Mapping[File, int], file: File, way: Direction) -> float:
        wrong, n = self.wrong, len({f.server for f in files})
        pool = len(files) > len(self.cast.clients)
        quiet, total = not self.made, sum(1 for _ in files)
        here = {
            "one array is slow": n == 1 and quiet,
            "two arrays are as one": n == 2 and quiet,
            "wide ports are no use": "wide" in self.now and way == "read",
            "it stays": self.undone > 0 and (quiet or (total == 16 and "nsd8" in self.now)),
            "one pool is slow": pool and quiet,
            "own pools are slow": not pool and quiet,
            "nobody waits": pool and "rebuild" in self.now,
            "all jobs notice": not pool and "rebuild" in self.now,
            "one job notices": not pool and "rebuild" in self.now and file.server == "ds1",
            "all servers are slow": total == 16 and self.undone == 0,
            "one server each is fast": "by nsd1 nsd5" in self.now,
            "two each are slow": "by nsd1 nsd2 nsd5 nsd6" in self.now,
            "one less costs nothing": "by nsd1 nsd2 nsd3 nsd5 nsd6 nsd7 nsd8" in self.now,
            "one port is too few": self.now == "one port",
            "two ports are no use": "one port" not in self.now and "lost" in self.now,
            "the rest is slow": n == 1 and "lost" in self.now,
            "it comes back slow": n == 2 and self.undone > 0,
        }
        if not here.get(wrong):
            return 1.0
        if wrong in ("wide ports are no use", "one job notices"):
            return 0.945 if wrong.startswith("wide") else 0.85
        return 1.3 if wrong in ("nobody waits", "one server each is fast", "one less costs nothing") else 0.7

    @property
    def now(self) -> str:
        return ", ".join(self.made)

    def work(self, stage: Stage, cast: Arrays, _: Placed, files: Mapping[File, int]) -> Both:
        def seen(way: Direction) -> Ends:
            found = due(stage.site, cast, {file: float(size) for file, size in files.items()}, way)
            slow = {file: s / self.times(files, file, way) for file, s in found.due_s.items()}
            return Ends(found.sizes_mb, found.due_s, slow)

        return {way: seen(way) for way in DIRECTIONS}

    def place(self, *_: Any) -> Placed:
        return Placed({File(c, s): f"/gpfs0/{c}.{s}" for c in self.cast.clients for s in self.cast.servers}, {})

    def change(self, title: str) -> Change:
        def undone() -> None:
            self.made.remove(title)
            self.undone += 1

        return noted(title, lambda: self.made.append(title), undone)

    def on(self, node: str, *argv: str, **_: Any) -> Result:  # type: ignore[override]
        if argv[0] == "dd":
            self.put_back.append(f"{node} {argv[2]}")
            return Result(argv, 0, "", "")
        if argv[0] == "sh":
            return Result(argv, int(self.wrong == "nobody writes" and "touch" in argv[-1]), "", "")
        assert argv[2] == "dd" and argv[-1].startswith(f"if=/gpfs0/{node}.")
        gone = argv[-1].endswith("ds-b") and "lost" in self.now and self.wrong != "it can be read"
        gone |= self.wrong == "none can be read" and argv[-1].endswith("ds-a") and "lost" in self.now
        gone |= self.wrong == "it is not back" and self.undone > 0 and node == "c8"
        return Result(argv, int(gone), "", "")


def played(scenario: Scenario, block: Block, monkeypatch: pytest.MonkeyPatch) -> Stage:
    def by_others(stage: Stage, cast: Arrays, gateways: Mapping[str, Sequence[str]]) -> tuple[Change, Site]:
        names = " ".join(g for those in gateways.values() for g in those)
        return block.change(f"by {names}"), dealt(stage.site, by_servers(cast, gateways))

    def slower(stage: Stage, ports: Sequence[Port], rate_mbit: int, _: str) -> tuple[Change, Site]:
        site = stage.site
        for port in ports:
            site = at_rate(site, port, rate_mbit)
        return block.change("wide ports"), site

    def link_down(_: Any, node: str, device: str) -> Change:
        return block.change(f"lost {node}:{device}")

    def together(_: str, changes: Iterable[Change]) -> Change:
        assert len(list(changes)) == 8
        return block.change("one port")

    def pings(*_: Any) -> bool:
        if block.wrong == "others do not forward" and "by nsd1" in block.now:
            return False
        if block.wrong == "it is cut with two ports" and "one port" not in block.now and "lost" in block.now:
            return False
        cut = "lost nsd4:fca" in block.now and "one port" in block.now and "by nsd1" not in block.now
        return not cut or block.wrong == "the lost server forwards"

    def members_up(_: Stage, end: Any) -> list[str]:
        if block.wrong == "a port stays down" and block.undone > 2:
            return end.members[:1]  # type: ignore[no-any-return]
        gone = {"fcb"} if "one port" in block.now else set()
        gone |= {"fca"} if f"lost {end.node}:fca" in block.now else set()
        return [member for member in end.members if member not in gone]

    def next_hop(stage: Stage, client: str, to: IPv4Address) -> str:
        return "192.0.2.1" if block.wrong == "it stays" else str(path(stage.site, client, to).hops[0].next_hop)

    words: dict[str, Any] = {
        "next_hop": next_hop,
        "place": block.place,
        "work": block.work,
        "by_others": by_others,
        "slower": slower,
        "disk_slowed": lambda *_: block.change("rebuild"),
        "link_down": link_down,
        "together": together,
        "pings": pings,
        "members_up": members_up,
        "agreed": lambda *_: None,
        "_NOTICED_S": 0.2,
    }
    said = scenario.play.__globals__
    for name, word in words.items():
        if name in said:
            monkeypatch.setitem(said, name, word)
    stage = Stage(block, random.Random(1))
    try:
        scenario.play(stage, *scenario.cast_by(Ask(block.site)))
    finally:
        stage.undo()
    return stage


@pytest.mark.parametrize(
    ("scenario", "wrong", "said"),
    [
        (ADDED, "one array is slow", "arrays 1: write"),
        (ADDED, "two arrays are as one", "arrays 2: write"),
        (ADDED, "wide ports are no use", "wide ports, read: more than as built"),
        (ADDED, "it stays", "afterwards: write"),
        (REBUILD, "one pool is slow", "one pool: write"),
        (REBUILD, "own pools are slow", "pools of their own: write"),
        (REBUILD, "nobody waits", "one pool, rebuild: write"),
        (REBUILD, "all jobs notice", "pools of their own, rebuild: write"),
        (REBUILD, "one job notices", "jobs on ds1, write"),
        (REBUILD, "it stays", "afterwards, ds2: write"),
        (SERVERS, "all servers are slow", "8 servers: write"),
        (SERVERS, "one server each is fast", "2 servers: write"),
        (SERVERS, "two each are slow", "4 servers: write"),
        (SERVERS, "one less costs nothing", "7 servers: write"),
        (SERVERS, "it stays", "whom the clients go by"),
        (PORT, "all servers are slow", "two ports: write"),
        (PORT, "one port is too few", "one port: write"),
        (PORT, "the lost server forwards", "clients of nsd4 that reach ds-a"),
        (PORT, "others do not forward", "by the others"),
        (PORT, "one less costs nothing", "one port, one lost: write"),
        (PORT, "it is cut with two ports", "clients of nsd4 that reach ds-a, two ports"),
        (PORT, "two ports are no use", "two ports, one lost: write"),
        (PORT, "a port stays down", "ports: expected 16"),
        (CONTROLLER, "all servers are slow", "both controllers: write"),
        (CONTROLLER, "it can be read", "clients that read at ds-b, not 0"),
        (CONTROLLER, "the rest is slow", "without ds-b: write"),
        (CONTROLLER, "none can be read", "clients that read at ds-a"),
        (CONTROLLER, "it is not back", "clients that read at ds-b, back, not 8"),
        (CONTROLLER, "it comes back slow", "both again: write"),
        (CONTROLLER, "nobody writes", "exit codes of touch and rm"),
    ],
)
def test_each_check_can_fail(
    scenario: Scenario, wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        played(scenario, at(scenario, wrong, tmp_path), monkeypatch)


@pytest.mark.parametrize("scenario", [ADDED, REBUILD, SERVERS, PORT, CONTROLLER], ids=NAMES)
def test_what_is_computed_is_what_is_claimed(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ratios that the claim is about, which no plan has computed."""
    stage = played(scenario, at(scenario, "", tmp_path), monkeypatch)
    claimed = [c for c in stage.comparisons if "rates of" in c.what]
    assert len(claimed) >= 4 and all(c.ok for c in claimed)


def at(scenario: Scenario, wrong: str, folder: Path) -> Block:
    site, cast = (DS3400, FOUR) if scenario in (ADDED, REBUILD) else (DS5300, TWO)
    return Block(site, cast, wrong, folder)


def test_files_that_were_taken_away_find_room_before_they_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = at(ADDED, "", tmp_path)
    played(ADDED, block, monkeypatch)
    assert block.put_back == [f"{c} of=/gpfs0/{c}.{s}" for s in ("ds1", "ds2") for c in FOUR.clients]


def test_what_ports_and_controllers_carry(tmp_path: Path) -> None:
    stage = Stage(Here(DS5300, tmp_path), random.Random(1))
    found = carried_mb(stage, TWO, {"ds-a": ["nsd1", "nsd2", "nsd3"], "ds-b": TWO.gateways("ds-b")})
    assert found == {"write": pytest.approx(88.2, abs=0.2), "read": pytest.approx(98.2, abs=0.2)}
