"""Who shares a network: an address that two have, multicast, jobs and limits; what makes each of their checks fail."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import BadInput, CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.lab.faults import address_twice, snooping_on
from causeway.lab.probes import beats
from causeway.lab.probes.heartbeats import EVERY_S, Heard
from causeway.model.load import load_site
from causeway.model.thing import Port
from causeway.scenario.cast import Ask
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from causeway.scenario.words.limits import Limits
from tests.unit.here import SITE, Here
from tests.unit.told import Told, play

XE = load_site(REPO / "topologies/xe/site.yaml")
SMALL = load_site(REPO / "topologies/small/site.yaml")
TWICE, SNOOPING, ORPHANS, LIMITS = (
    load(name) for name in ("address_twice", "multicast_snooping", "orphans_after_reset", "limits_daemon")
)


# who plays


def test_an_address_is_taken_by_a_node_of_no_cluster_from_a_host_beside_callers_that_do_not_forward() -> None:
    cast = Ask(XE).twice()
    assert (cast.network, cast.host, cast.other, str(cast.address)) == ("ib", "x1", "voltaire", "192.168.1.1")
    assert len(cast.callers) == 15 and cast.callers[-1] == "xe" and not {"x16", "x17", "x18", "x19"} & {*cast.callers}
    with pytest.raises(Unsupported, match="jubl has no node of no cluster in one network with 4 hosts"):
        Ask(SITE).twice()


def test_a_company_is_whoever_is_at_one_switch_that_learns() -> None:
    cast = Ask(XE).company()
    assert (cast.network, cast.switch, len(cast.hosts)) == ("g", "smc", 8)
    with pytest.raises(Unsupported, match="small has no switch that learns"):
        Ask(SMALL).company()


def test_a_job_starts_where_no_files_come_by_the_network_of_logins() -> None:
    cast = Ask(XE).starter()
    assert (cast.node, cast.port, cast.others) == ("x1", Port("x1", "eth0"), ["x2", "x6", "x9", "x10"])
    with pytest.raises(Unsupported, match="jubl has no host with a cable"):
        Ask(SITE).starter()


# faults


def test_an_address_is_added_beside_the_nodes_own_and_taken_away_by_itself(tmp_path: Path) -> None:
    change = address_twice(Here(XE, tmp_path), "voltaire", "192.168.1.3")
    assert change.title == "voltaire has x3's address 192.168.1.3"
    assert [step.argv for step in (*change.there, *change.back)] == [
        ("ip", "address", "add", "192.168.1.3/16", "dev", "ib0"),
        ("ip", "address", "flush", "dev", "ib0", "to", "192.168.1.3/32"),
    ]
    for address, said in (("192.168.2.100", "voltaire's own"), ("192.168.9.9", "nobody's")):
        with pytest.raises(BadInput, match=said):
            address_twice(Here(XE, tmp_path), "voltaire", address)


def test_snooping_is_a_bridges_setting_and_goes_without_a_trace(tmp_path: Path) -> None:
    change = snooping_on(Here(XE, tmp_path), "smc")
    assert change.there[0].argv[:4] == ("ovs-vsctl", "set", "bridge", "br-g")
    assert "mcast_snooping_enable=true" in change.there[0].argv
    assert [step.argv[1] for step in change.back] == ["set", "remove"]


# address_twice


class Net:
    """x1 and voltaire as neighbours see them."""

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong
        self.twice = self.asked = self.taken = self.went = False

    def fault(self, *_: Any) -> Change:
        def undone() -> None:
            self.twice, self.went = False, True

        return Told("twice", lambda: setattr(self, "twice", self.wrong != "nobody notices"), undone)

    def answering(self, *_: Any) -> list[str]:
        left = self.went and self.wrong == "it stays"
        return ["voltaire", "x1"] if self.twice or left or self.wrong == "two from the start" else ["x1"]

    def reaching(self, _: Any, __: str, callers: Sequence[str], ___: Any) -> list[str]:
        if self.wrong == "a caller is cut off" or (self.taken and self.wrong == "some still reach it" and callers):
            return list(callers[:-1]) if self.wrong == "a caller is cut off" else list(callers[:1])
        silent = self.wrong == "it is enough to have it" and self.twice
        return [] if self.taken or silent else list(callers)

    def answered(self, _: Any, __: str, source: Any, ___: str, others: Sequence[str]) -> list[str]:
        own = str(source) == "192.168.2.100"
        if own:
            self.taken = self.wrong == "its own address takes, too"
            return list(others)
        if not self.asked:
            return list(others[:1]) if self.wrong == "it is heard at once" else []
        self.taken = True
        return [] if self.wrong == "it is never heard" else list(others)

    def forget_all(self, *_: Any) -> None:
        self.asked = True

    def announce(self, *_: Any) -> None:
        self.taken = self.taken and self.wrong == "announcing is in vain"


def play_twice(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = Net(wrong)
    words: dict[str, Any] = {name: getattr(net, name) for name in ("answering", "reaching", "answered", "forget_all")}
    words |= {"announce": net.announce, "address_twice": net.fault, "pings": lambda *_: wrong != "nobody pings it"}
    monkeypatch.setattr(Stage, "let_pass", lambda *_: None)
    play(TWICE, XE, folder, monkeypatch, words)


def test_address_twice_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_twice("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("two from the start", "who answers for 192.168.1.1: expected x1, measured voltaire, x1"),
        ("a caller is cut off", "who reaches x1: expected"),
        ("nobody notices", "who answers for 192.168.1.1: expected voltaire, x1, measured x1"),
        ("it is enough to have it", "who reaches x1, voltaire silent"),
        ("nobody pings it", "who pings voltaire"),
        ("it is heard at once", "who answers voltaire: expected none, measured x2"),
        ("it is never heard", "who answers voltaire, which has asked"),
        ("some still reach it", "who reaches x1, voltaire has called: expected none, measured x2"),
        ("announcing is in vain", "who reaches x1, which has announced itself"),
        ("its own address takes, too", "who reaches x1, voltaire has called from 192.168.2.100"),
        ("it stays", "who answers, afterwards: expected x1, measured voltaire, x1"),
    ],
)
def test_each_check_of_address_twice_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_twice(wrong, tmp_path, monkeypatch)


# multicast_snooping


def test_a_query_has_its_own_checksum() -> None:
    words = [int.from_bytes(beats.query()[at : at + 2], "big") for at in range(0, 12, 2)]
    total = sum(words)
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF and beats.query()[0] == 0x11


def test_who_was_not_heard_for_a_while_is_down() -> None:
    heard = Heard({"a": {"a": [0.0, 60.0], "b": [0.0, 19.0]}, "b": {"b": [100.0]}})
    assert heard.at(98) == {"a": 2, "b": 0} and heard.at(100) == {"a": 1, "b": 1}
    assert heard.last_s() == 19.0 and heard.last_s(10) == 0.0


def play_snooping(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on = False

    def snooping(*_: Any) -> Change:
        def set_on(value: bool) -> None:
            nonlocal on
            on = value and wrong != "it floods on"

        return Told("snooping", lambda: set_on(True), lambda: set_on(wrong == "it goes on snooping"))

    class Beating:
        def __init__(self, hosts: Sequence[str], for_s: float, asked: bool) -> None:
            self.hosts, self.for_s, self.asked = hosts, for_s, asked

        def heard(self) -> Heard:
            last = {"too late": 380.0, "at once": 0.0, "too soon": 250.0}.get(wrong, 300.0)
            until = last if on and not (self.asked and wrong != "asking is in vain") else self.for_s
            until = 0.0 if wrong == "nobody hears" else until

            def beat(end: float) -> list[float]:
                return [n * EVERY_S for n in range(int(self.for_s / EVERY_S) + 1) if n * EVERY_S <= end]

            mine = -1.0 if wrong == "they do not hear themselves" else self.for_s
            return Heard({h: {o: beat(mine if o == h else until) for o in self.hosts} for h in self.hosts})

    @contextmanager
    def beating(_: Any, __: str, hosts: Sequence[str], for_s: float, querier: str | None = None) -> Iterator[Beating]:
        yield Beating(hosts, for_s, querier is not None)

    def pings(*_: Any) -> bool:
        return wrong != "unicast goes, too"

    play(SNOOPING, XE, folder, monkeypatch, {"beating": beating, "snooping_on": snooping, "pings": pings})


def test_multicast_snooping_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_snooping("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("they do not hear themselves", "how many each hears: expected x1: 8.*measured x1: 7"),
        ("at once", "how many each hears, after 200 s: expected x1: 8"),
        ("it floods on", "how many each hears, after 420 s: expected x1: 1"),
        ("too late", "how many each hears, after 420 s: expected x1: 1"),
        ("too soon", "silent once 300 s have passed"),
        ("unicast goes, too", "who answers x1's ping"),
        ("asking is in vain", "how many each hears, after 420 s, asked: expected x1: 8"),
        ("it goes on snooping", "how many each hears, after 420 s, no snooping: expected x1: 8"),
    ],
)
def test_each_check_of_multicast_snooping_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_snooping(wrong, tmp_path, monkeypatch)


# orphans_after_reset


class Jobs:
    """Processes on others, a clock, and whether the starter is heard."""

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong
        self.now, self.lost_at, self.silent = 0.0, 0.0, False
        self.here: list[str] = []
        self.alive = self.watchful = False

    @contextmanager
    def job(self, _: Any, __: str, others: Sequence[str]) -> Iterator[None]:
        self.here, self.alive = list(others[1:] if self.wrong == "one does not start" else others), True
        yield
        self.alive, self.lost_at = self.silent and self.wrong != "a reset is heard", self.now
        if self.wrong == "they outlive a proper end":
            self.alive = True

    def running(self, *_: Any) -> list[str]:
        self.now += 0.1
        after = {"it is never noticed": 1e9, "it is noticed too soon": 20.0}.get(self.wrong, 50.0)
        noticed = self.alive and self.watchful and self.now - self.lost_at > after
        early = self.wrong == "they end by themselves" and self.now - self.lost_at > 400 and self.lost_at
        return [] if not self.alive or noticed or early else self.here

    def silence(self, *_: Any) -> Change:
        return Told("silent", lambda: setattr(self, "silent", True), lambda: setattr(self, "silent", False))

    def watching(self, *_: Any) -> Change:
        return Told("asks", lambda: setattr(self, "watchful", True), lambda: setattr(self, "watchful", False))

    def by_hand(self, *_: Any) -> None:
        self.alive = False


def play_orphans(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = Jobs(wrong)

    class Watch:
        def __init__(self) -> None:
            self.begin = jobs.now

        @property
        def virtual_s(self) -> float:
            return jobs.now - self.begin

    def until(_: Any, what: str, probe: Callable[[], Any], *, is_: Any, within_s: float, poll_s: float = 0.1) -> None:
        assert poll_s
        end = jobs.now + within_s
        while jobs.now < end:
            if probe() == is_:
                return
        raise CheckFailed(f"{what}, not {is_}")

    def let_pass(_: Any, seconds: float, __: str) -> None:
        jobs.now += seconds

    monkeypatch.setattr(Stage, "until", until)
    monkeypatch.setattr(Stage, "let_pass", let_pass)
    words: dict[str, Any] = {"job": jobs.job, "running": jobs.running, "end_by_hand": jobs.by_hand, "Watch": Watch}
    words |= {"link_silent": jobs.silence, "watchful": jobs.watching, "pings": lambda *_: wrong != "it stays away"}
    play(ORPHANS, XE, folder, monkeypatch, words)


def test_orphans_after_reset_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_orphans("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("one does not start", "where processes run: expected x2, x6, x9, x10, measured x6"),
        ("they outlive a proper end", "where processes run, ended properly"),
        ("a reset is heard", "where processes run, 600 s after the reset: expected x2"),
        ("they end by themselves", "where processes run, 600 s after the reset: expected x2"),
        ("it stays away", "who answers x1: expected x2"),
        ("it is never noticed", "where processes run, not"),
        ("it is noticed too soon", "gone 45 to 60 s after the reset: expected yes"),
    ],
)
def test_each_check_of_orphans_after_reset_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_orphans(wrong, tmp_path, monkeypatch)


# limits_daemon


BUILT = Limits(8192, 4096)


class Node:
    """A node whose logins read a file of limits, and a daemon with those of who started it."""

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong
        self.file, self.script, self.daemon = BUILT, False, BUILT

    def boot(self, *_: Any) -> None:
        read = self.wrong == "boot reads the file"
        self.daemon = LIMITS.play.__globals__["RAISED"] if self.script else self.file if read else BUILT

    def set_script(self, *_: Any, top: str = "") -> Change:
        top = _[2] if len(_) > 2 else top

        def made() -> None:
            self.script = bool(top) and self.wrong != "the script is in vain"
            self.boot()

        return Told("daemon", made, lambda: None)

    def set_file(self, *_: Any) -> Change:
        raised = LIMITS.play.__globals__["RAISED"]

        def made() -> None:
            self.file = BUILT if self.wrong == "logins do not read it" else raised
            if self.wrong == "daemons read it at once":
                self.daemon = raised

        def undone() -> None:
            self.file = raised if self.wrong == "the file stays" else BUILT

        return Told("file", made, undone)

    def from_login(self, *_: Any) -> None:
        self.daemon = BUILT if self.wrong == "a login gives nothing on" else self.file

    def job(self, *_: Any) -> Limits:
        return Limits(64, 64) if self.wrong == "jobs have less" else self.daemon


def play_limits(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node(wrong)
    words: dict[str, Any] = {"of_login": lambda *_: node.file, "of_job": node.job, "daemon": node.set_script}
    words |= {"booted_anew": node.boot, "restarted_from_login": node.from_login, "file_changed": node.set_file}
    play(LIMITS, XE, folder, monkeypatch, words | {"until_it_listens": lambda *_: None})


def test_limits_daemon_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_limits("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("jobs have less", "a job's limits: expected 8192 KiB locked, 4096 files, measured 64 KiB"),
        ("logins do not read it", "a login's limits, raised: expected 1048576 KiB"),
        ("daemons read it at once", "a job's limits, raised for logins: expected 8192 KiB"),
        ("boot reads the file", "a job's limits, daemon started anew as boot does: expected 8192 KiB"),
        ("a login gives nothing on", "a job's limits, daemon started from a login: expected 1048576 KiB"),
        ("the script is in vain", "a job's limits, set in the script: expected 1048576 KiB"),
        ("the file stays", "a login's limits, afterwards: expected 8192 KiB"),
    ],
)
def test_each_check_of_limits_daemon_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_limits(wrong, tmp_path, monkeypatch)


def test_what_a_file_and_a_script_say_of_limits_is_in_their_own_units() -> None:
    limits = Limits(1048576, 32768)
    assert limits.in_script() == "ulimit -l 1048576\nulimit -n 32768\n"
    assert limits.for_logins().splitlines()[::3] == ["* - memlock 1048576", "root - nofile 32768"]
