"""Files of xe: a slow member, one unplugged, nodes and processes, jobs, a disk in a file; how each check fails."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.lab.filesystems.gluster import parse_calls, parse_pool
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.files import bound_mb, share
from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.plan.paths import at_rate
from causeway.scenario.cast import Ask, Transports
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from causeway.scenario.words.computing import Job
from causeway.scenario.words.files import Both, Outcome
from causeway.scenario.words.loops import Made
from causeway.scenario.words.records import Written
from causeway.scenario.words.streams import Lone
from causeway.scenario.words.transports import Both as Rates
from tests.unit.here import SITE
from tests.unit.told import Told, play

XE = load_site(REPO / "topologies/xe/site.yaml")
MEMBER, UNPLUGGED, PROCESSES, JOBS, LOOP = (
    load(name)
    for name in ("slow_member", "storage_unplugged", "nodes_not_processes", "job_on_two_networks", "jobfs_loop")
)
STRIPED = Ask(XE).striped()


# who plays


def test_a_stripes_servers_have_a_cable_each_that_two_clients_fill() -> None:
    assert (STRIPED.filesystem, STRIPED.clients) == ("short", ["x1", "x2"])
    assert STRIPED.ports["tp17"] == Port("tp17", "fc0") and STRIPED.servers == ["tp16", "tp17", "tp18", "tp19"]
    with pytest.raises(Unsupported, match="jubl has no filesystem of stripes behind nodes that forward"):
        Ask(SITE).striped()
    unlike = at_rate(XE, Port("tp17", "fc0"), 200)
    with pytest.raises(Unsupported, match="xe has no filesystem of stripes"):
        Ask(unlike).striped()


def test_a_slow_server_tells_only_where_the_servers_cables_bound() -> None:
    """planck's gateways bound: a server of half the rate changes nothing there."""
    planck = load_site(REPO / "topologies/planck/site.yaml")
    assert Ask(XE).striped(bound=True) == STRIPED and Ask(planck).striped().filesystem == "ngf"
    with pytest.raises(Unsupported, match=r"planck has no filesystem of stripes .*, which bounds what is written"):
        Ask(planck).striped(bound=True)


def test_who_shares_a_filesystem_has_a_disk_and_no_task() -> None:
    assert Ask(XE).sharing(disks=True).clients == ["x1", "x2"]
    with pytest.raises(Unsupported, match="jubl has no filesystem that two hosts with disks mount"):
        Ask(SITE).sharing(disks=True)


# slow_member


def due_mb(site: Site, way: Direction, servers: Sequence[str] = STRIPED.servers) -> float:
    """MB/s of both clients, which read from three of four."""
    used = servers if way == "write" else [*servers[:1], *servers[2:]]
    clients = {}
    for client in STRIPED.clients:
        own = site.address(client, "ib")
        ends = [((client, (own, 1000 + n)), (s, (site.known_by(s).address, 49152))) for n, s in enumerate(used)]
        clients[client] = [share(site, "short", one, other, way) for one, other in ends]
    return bound_mb(site, clients)


def test_a_stripe_is_written_at_the_rate_of_its_slowest_server() -> None:
    slow = at_rate(XE, Port("tp17", "fc0"), 231)
    assert due_mb(XE, "write") == pytest.approx(124.0, abs=0.1)
    assert due_mb(slow, "write") / due_mb(XE, "write") == pytest.approx(49 / 72, abs=0.003)
    assert due_mb(slow, "read") == due_mb(XE, "read")


def play_member(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, was = False, False

    def both_ways(stage: Stage, *_: Any, **__: Any) -> Both:
        outcomes = {}
        for way in DIRECTIONS:
            due = due_mb(stage.site, way)
            times = {"the others make up for it": 1.4 if bad else 1, "it stays slow": 0.7 if was and not bad else 1}
            here = times.get(wrong, 0.8 if wrong == "they have less" and not bad else 1)
            outcomes[way] = Outcome(due * here, due, 1.0, None)  # type: ignore[arg-type]
        return Both(outcomes["write"], outcomes["read"])

    def slower(stage: Stage, ports: Sequence[Port], rate: int, title: str) -> tuple[Change, Site]:
        def set_bad(value: bool) -> None:
            nonlocal bad, was
            bad, was = value, was or value

        site = stage.site if wrong == "nobody is slow" else at_rate(stage.site, ports[0], rate)
        return Told(title, lambda: set_bad(True), lambda: set_bad(False)), site

    def one_stream(stage: Stage, server: str, _: str, network: str) -> Lone:
        assert network == "ib"
        due = tcp_goodput_mbit(stage.site.sends_mbit(Port(server, "fc0")), 9000)
        times = 0.5 if wrong == "another is slow" and server == "tp19" else 1.0
        return Lone(due, "its wire", due * times, None)  # type: ignore[arg-type]

    words = {"both_ways": both_ways, "slower": slower, "one_stream": one_stream, "clear": lambda *_: None}
    play(MEMBER, XE, folder, monkeypatch, words)


def test_slow_member_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_member("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("they have less", "as built: write: expected 124.0 MB/s, measured 99.2"),
        ("the others make up for it", "tp17 slow: write: expected 84.2 MB/s, measured 117.9"),
        ("nobody is slow", "written: in rates of what it was: expected 0.681, measured 1.0"),
        ("another is slow", "looked for: tp19 alone: expected"),
        ("it stays slow", "as built again: write: expected 124.0 MB/s, measured 86.8"),
    ],
)
def test_each_check_of_slow_member_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_member(wrong, tmp_path, monkeypatch)


# storage_unplugged


def play_unplugged(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits_s, was_out = 10, False

    def cable(*_: Any) -> Change:
        def pulled() -> None:
            nonlocal was_out
            was_out = True

        return Told("pulled", pulled, lambda: None)

    def patience(_: Stage, __: str, nodes: Sequence[str], seconds: int, usual: int) -> None:
        nonlocal waits_s
        assert (nodes, usual) == (["x1"], 10)
        waits_s = 10 if wrong == "nobody is patient" else seconds

    class Writer:
        def written(self) -> Written:
            given_up = waits_s < 60 and wrong != "nobody gives up"
            longest = (15.0 if given_up else 69.5) if was_out else 2.0 if wrong == "it is slow from the start" else 0.1
            longest *= 3 if wrong == "it waits for ever" and not given_up else 1
            count = 14 if wrong == "an error ends it" and was_out else 15
            return Written([(0.0, longest)] * count, "" if count == 15 else "Transport endpoint is not connected")

    @contextmanager
    def writing(_: Stage, node: str, file: str, __: int) -> Iterator[Writer]:
        assert file == f"/short/records.{node}"
        yield Writer()

    def digest(*_: Any) -> str:
        return "lost" if wrong == "something is lost" and was_out else Written([(0.0, 0.1)] * 15, "").digest

    def until(_: Any, what: str, probe: Callable[[], Any], *, is_: Any, within_s: float) -> None:
        if within_s <= 0 or probe() != is_:
            raise CheckFailed(f"{what}, not {is_}")

    def mounted(*_: Any) -> dict[str, str]:
        away = (wrong == "the server stays away" and was_out) or (wrong == "it goes in the end" and waits_s > 60)
        return {"short": "3 of 4" if away else "4 of 4"}

    monkeypatch.setattr(Stage, "let_pass", lambda *_: None)
    monkeypatch.setattr(Stage, "until", until)
    monkeypatch.setattr("causeway.scenario.words.records.digest", digest)
    words: dict[str, Any] = {"writing": writing, "patience": patience, "link_down": cable, "mounted": mounted}
    play(UNPLUGGED, XE, folder, monkeypatch, words)


def test_storage_unplugged_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_unplugged("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("it is slow from the start", "no record takes a second: expected yes, measured no"),
        ("an error ends it", "unplugged: records, and errors: expected 15, , measured 14, Transport"),
        ("something is lost", "unplugged: x2 reads what was written: expected yes"),
        ("the server stays away", "unplugged: servers that x1 reaches, not 4 of 4"),
        ("nobody gives up", "its longest record, 10 to 20 s: expected yes"),
        ("nobody is patient", "its longest record, 60 s and what TCP takes: expected yes"),
        ("it waits for ever", "its longest record, 60 s and what TCP takes: expected yes"),
        ("it goes in the end", "unplugged, patient: servers that x1 reaches, not 4 of 4"),
    ],
)
def test_each_check_of_storage_unplugged_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_unplugged(wrong, tmp_path, monkeypatch)


# nodes_not_processes, job_on_two_networks


class Ways:
    """Clients by either network, as computed by hand: one's link, or what four arrays give."""

    def __init__(self, wrong: str, ways: Transports) -> None:
        self.wrong, self.network = wrong, ways.usual
        self.half = self.back = False

    def moved(self, stage: Stage, _: Sequence[str], network: str) -> tuple[Change, Site]:
        def go(to: str) -> None:
            self.back = self.network == network
            self.network = "g" if self.wrong == "they stay" and self.back else to

        return Told("moved", lambda: go(network), lambda: go("ib")), stage.site

    def slower(self, stage: Stage, *_: Any) -> tuple[Change, Site]:
        return Told("half", lambda: setattr(self, "half", True), lambda: setattr(self, "half", False)), stage.site

    def rates(self, _: Stage, __: Transports, nodes: Sequence[str], processes: int, ___: int) -> Rates:
        n, wrong = len(nodes), self.wrong
        one, most = ((8.83, 35.3), (11.77, 47.1)) if self.network == "g" else ((106.7, 126.2), (142.3, 168.3))
        if self.network == "g":
            due = dict(zip(DIRECTIONS, (min(n * 8.83, 35.3), min(n * 11.77, 47.1)), strict=True))
            due = {way: mb / 2 if self.half else mb for way, mb in due.items()}
        else:
            due = {"write": one[0] if n == 1 else one[1], "read": most[0] if n == 1 else most[1]}
            if wrong == "the fast one grows, too" and n > 1:
                due = {way: 4 * mb for way, mb in due.items()}
        if self.network == "g" and n == 2 and wrong == "two share what one has":
            due = {way: mb / 2 for way, mb in due.items()}
        times = 1.0
        times = 0.91 if n == 2 and wrong == "two are no faster" else times
        times = 0.7 if n == 1 and processes == 1 and wrong == "one has less" else times
        times = 1.09 if (n, processes) == (1, 1) and wrong == "two are no faster" else times
        times = 0.8 if processes == 2 and self.network == "g" and wrong == "two processes have less" else times
        return Rates(due, {way: mb * times for way, mb in due.items()})

    def timed(self, _: Stage, __: str, jobs: Mapping[str, Job]) -> dict[str, float]:
        rate = (8.83 / (2 if self.half else 1)) if self.network == "g" else 106.7
        found = {}
        for node, job in jobs.items():
            seconds = job.due_s(rate)
            if self.wrong == "it computes at the same time":
                seconds = max(job.computes_s, job.writes_mb / rate)
            if self.wrong == "who computes minds" and job.name == "3" and self.network == "g":
                seconds *= 1.015
            if self.wrong == "they notice it anyway" and self.half and self.network == "ib":
                seconds *= 1.1
            found[node] = seconds
        return found


def play_ways(scenario: Any, wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ways = Ways(wrong, Ask(XE).transports(2))
    words: dict[str, Any] = {"moved": ways.moved, "by_processes": ways.rates, "mount_anew": lambda *_: None}
    if scenario is JOBS:
        words |= {"timed": ways.timed, "slower": ways.slower}
    play(scenario, XE, folder, monkeypatch, words)


@pytest.mark.parametrize("scenario", [PROCESSES, JOBS], ids=["nodes_not_processes", "job_on_two_networks"])
def test_both_pass_where_all_is_as_they_claim(scenario: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_ways(scenario, "", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("scenario", "wrong", "said"),
    [
        (PROCESSES, "one has less", "g, 1 node: write: expected 8.8 MB/s, measured 6.2"),
        (PROCESSES, "two are no faster", "2 nodes, write: in rates of one: expected 2.0, measured 1.67"),
        (PROCESSES, "two share what one has", "2 nodes, write: computed: expected 2, measured 1.0"),
        (PROCESSES, "two processes have less", "g, 1 node, 2 processes: write: expected 8.8 MB/s, measured 7.1"),
        (PROCESSES, "the fast one grows, too", "write: less than one and a half times as much: expected yes"),
        (JOBS, "it computes at the same time", "g: job e: expected 47.0 s, measured 41.0"),
        (JOBS, "who computes minds", "who computes, by a hundredth at most: expected yes"),
        (JOBS, "they notice it anyway", "ib, g slow: job e: expected 41.5 s, measured 45.7"),
    ],
)
def test_each_check_of_both_can_fail(
    scenario: Any, wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_ways(scenario, wrong, tmp_path, monkeypatch)


def test_a_jobs_declared_times_are_the_notes_in_both_networks() -> None:
    globals_: dict[str, Any] = JOBS.play.__globals__
    for job, fast, slow in ((globals_["WRITES"], 16598, 18819), (globals_["COMPUTES"], 5093, 5143)):
        assert job.due_s(106.7) * 400 == pytest.approx(fast, rel=0.005)
        assert job.due_s(8.83) * 400 == pytest.approx(slow, rel=0.005)


# jobfs_loop


def test_calls_are_counted_over_all_bricks() -> None:
    text = """Brick: tp16:/disks/short/brick
      0.00       0.00 us       0.00 us       0.00 us            200      FORGET
     12.00      90.10 us      20.00 us     500.00 us           1000      CREATE
Brick: tp17:/disks/short/brick
     12.00      90.10 us      20.00 us     500.00 us            999      CREATE
"""
    assert parse_calls(text, "CREATE") == 1999 and parse_calls(text, "MKNOD") == 0


def test_servers_are_together_when_each_is_connected() -> None:
    text = "UUID  \tHostname \tState\na-b-c\ttp17     \tConnected \nd-e-f\tlocalhost\tConnected \n"
    assert parse_pool(text)
    assert not parse_pool(text.replace("tp17     \tConnected", "tp17     \tDisconnected"))
    assert not parse_pool("UUID  \tHostname \tState\n") and not parse_pool("")


def play_loop(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = 0

    @contextmanager
    def jobfs(*_: Any) -> Iterator[str]:
        nonlocal mounts
        mounts += 1
        yield "/run/jobfs"

    def touch(_: Stage, __: Any, ___: str, place: str, files: int) -> Made:
        if place.startswith("/run"):
            calls = files if wrong == "servers make them" else 0
            sent = 900_000 if wrong == "the network sees them" else 1_000
            return Made(calls, sent, 1.9 if wrong == "it takes as long" else 0.01)
        again = wrong == "calls go elsewhere" and mounts
        return Made(0 if again else files if wrong == "one server is asked" else 4 * files, 1_000_000, 2.0)

    words: dict[str, Any] = {"jobfs": jobfs, "touch": touch, "prepare": lambda *_: None}
    words["found"] = lambda *_: 249 if wrong == "a file is lost" else 250
    words["devices"] = lambda *_: 1 if wrong == "a device is left" and mounts else 0
    play(LOOP, XE, folder, monkeypatch, words)


def test_jobfs_loop_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_loop("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("one server is asked", "calls that make a file, native: expected 1000, measured 250"),
        ("servers make them", "calls that make a file, in the file: expected 0, measured 250"),
        ("the network sees them", "bytes, less than 0.1 of the others': expected yes"),
        ("it takes as long", "seconds, less than 0.1 of the others': expected yes"),
        ("a device is left", "loop devices in use on x1, afterwards: expected 0, measured 1"),
        ("a file is lost", "files: expected 250, measured 249"),
        ("calls go elsewhere", "calls that make a file, native again: expected 1000, measured 0"),
    ],
)
def test_each_check_of_jobfs_loop_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_loop(wrong, tmp_path, monkeypatch)
