"""Ways to storage that are lost, shared with messages, or dealt out by a switch: who plays, and how checks fail."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.lab.changes.change import Change
from causeway.lab.changes.switch_ends import dealt_to
from causeway.lab.probes.nuttcp import Measured, Stream
from causeway.model.thing import Port
from causeway.plan.files import Share, each_mb, spread
from causeway.plan.hardware import mac_address
from causeway.plan.hashing import slb_bucket
from causeway.plan.paths import at_rate, path, without_routes
from causeway.plan.streams import StreamEnds, expect
from causeway.process import Result
from causeway.scenario.cast import Ask
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import Both, Outcome
from causeway.scenario.words.storage import Beside
from tests.unit.here import SITE, Here
from tests.unit.test_gateways import GATEWAYS, PLANCK, SERVERS, due_mb, shares
from tests.unit.told import Told, play

SAN, APART, TRUNK = (load(name) for name in ("san_path_lost", "second_network", "cable_for_each"))


def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for something is told at once whether it is so."""

    def until(_: Any, what: str, probe: Callable[[], Any], *, is_: Any, within_s: float, poll_s: float = 0.1) -> None:
        assert within_s > poll_s
        if probe() != is_:
            raise CheckFailed(f"{what}, not {is_}")

    monkeypatch.setattr(Stage, "until", until)
    monkeypatch.setattr(Stage, "let_pass", lambda *_: None)


# who plays


def test_a_node_on_the_storages_network_may_have_another_way() -> None:
    assert Ask(PLANCK).private(2, spare=True).servers == ["pfc1", "pfc2"]
    lacking = without_routes(PLANCK, ["pfc1"], ["s2", "default"])
    assert Ask(lacking).private(1, spare=True).servers == ["pfc2"]
    with pytest.raises(Unsupported, match="nodes of PLANCK in the networks of all servers, which forwards"):
        Ask(lacking).private(2, spare=True)


def test_a_second_network_is_as_fast_as_the_first_and_another_ones_too() -> None:
    apart = Ask(PLANCK).apart(GATEWAYS)
    assert (apart.client, apart.peer, apart.usual, apart.other) == ("pc11", "pc21", "i", "j")
    slow = PLANCK
    for client in GATEWAYS.clients:
        slow = at_rate(slow, Port(client, "ib1"), 1000)
    with pytest.raises(Unsupported, match="planck has no client behind a gateway with a second network, as fast"):
        Ask(slow).apart(GATEWAYS)


def test_a_trunk_has_a_sender_for_each_cable_and_a_narrower_one_behind() -> None:
    trunk = Ask(PLANCK).trunk(GATEWAYS)
    assert (trunk.near.node, trunk.receiver, trunk.network) == ("woven", "franklin", "n")
    assert sorted(trunk.senders) == ["pgw1", "pgw2", "pgw3", "pgw4"]
    assert trunk.behind == ["nsd01", "nsd02", "nsd03", "nsd04"]
    buckets = [slb_bucket(mac_address(PLANCK, Port(sender, "eth6"))) % 4 for sender in trunk.senders]
    assert buckets == [0, 1, 2, 3]
    with pytest.raises(Unsupported, match="planck has no channel between switches that deals by MAC address"):
        Ask(at_rate(PLANCK, Port("franklin", "eth0"), 1000)).trunk(GATEWAYS)
    with pytest.raises(Unsupported, match="jubl has no"):
        Ask(SITE).trunk(Ask(SITE).gateways(3))


def test_a_bucket_that_is_dealt_elsewhere_goes_back_to_its_own_member() -> None:
    near = Ask(PLANCK).trunk(GATEWAYS).near
    change = dealt_to(near, 6, "n1")
    migrate = ("ovs-appctl", "bond/migrate", "nersc10g", "6")
    assert [step.argv for step in change.there] == [(*migrate, "n1")]
    assert [step.argv for step in change.back] == [(*migrate, "n3")]


# san_path_lost


class San:
    """pfc1 as it is claimed to be, but for what is wrong."""

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong
        self.pulled, self.moved = set[str](), set[str]()
        self.watching = self.anew = False

    @contextmanager
    def watched(self, _: Stage, node: str, devices: Sequence[str]) -> Iterator[None]:
        assert (node, list(devices)) == ("pfc1", ["fc1", "fc2", "fc3", "fc4"])
        self.watching = True
        yield
        self.watching = False

    def link_down(self, _: Any, __: str, device: str) -> Change:
        def pull() -> None:
            self.pulled.add(device)
            if self.wrong != "it keeps silent" and (self.watching or self.wrong == "unwatched it moves, too"):
                self.moved.add(device)

        return Told("pulled", pull, lambda: self.pulled.discard(device))

    def mount_anew(self, *_: Any) -> None:
        self.anew = True
        if self.wrong != "it stays on the other way":
            self.moved &= self.pulled

    def connected_from(self, *_: Any) -> dict[str, set[IPv4Address]]:
        legs = PLANCK.nodes["pfc1"].interfaces
        found: dict[str, set[IPv4Address]] = {}
        for k, server in enumerate(SERVERS, 1):
            device = f"fc{k}"
            leg = legs["ib0" if device in self.moved else device]
            found[server] = set() if device in self.pulled - self.moved else {leg.address}
        return found

    def whole(self, *_: Any) -> tuple[str, int]:
        away = len(self.pulled - self.moved) + (self.wrong == "one stays away" and self.anew)
        return f"{4 - away} of 4", 2 if self.wrong == "nothing is healed" and self.pulled else 0

    def heal(self, *_: Any) -> None:
        pass

    def own_addresses(self, *_: Any) -> list[str]:
        legs = PLANCK.nodes["pfc1"].interfaces.items()
        return [str(leg.address) for name, leg in legs if self.wrong != "no address comes back" or name == "ib0"]

    def next_hop(self, stage: Stage, node: str, to: IPv4Address) -> str:
        return "10.20.3.99" if self.wrong == "it goes round" else str(path(stage.site, node, to).hops[0].next_hop)

    def lone_files(self, stage: Stage, _: Any, client: str, __: float) -> Both:
        down, outcomes = len(stage.site.down), []
        here = {
            "it has less": not down and not self.anew,
            "one pulled slows": down == 1,
            "all pulled is slow": down == 4,
            "it keeps less": not down and self.anew,
        }
        for way in ("write", "read"):
            due = due_mb(stage.site, [client], way)  # type: ignore[arg-type]
            outcomes.append(Outcome(due * (0.7 if here.get(self.wrong) else 1), due, 1.0, spread(PLANCK, "ngf", way)))  # type: ignore[arg-type]
        return Both(*outcomes)


def play_san(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    san = San(wrong)

    def on(_: Any, __: str, *argv: str, **___: Any) -> Result:
        return Result(argv, int(argv[0] == "dd" and wrong == "the write fails"), "", "")

    at_once(monkeypatch)
    monkeypatch.setattr(Here, "on", on)
    names = (
        "watched", "link_down", "mount_anew", "connected_from", "heal", "whole", "own_addresses", "next_hop",
        "lone_files",
    )  # fmt: skip
    play(SAN, PLANCK, folder, monkeypatch, {name: getattr(san, name) for name in names})


def test_san_path_lost_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_san("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("it has less", "adapters: write: expected 124.0 MB/s, measured 86.8"),
        ("it goes round", "adapters: next hops: expected"),
        ("the write fails", "without pfc1:fc1: exit code of a write: expected 0, measured 1"),
        ("it keeps silent", "without pfc1:fc1: servers, not 4 of 4"),
        ("nothing is healed", "without pfc1:fc1: what is to be healed, not 0"),
        ("one pulled slows", "one pulled: write"),
        ("all pulled is slow", "all pulled: write"),
        ("no address comes back", "its adapters have their addresses, not True"),
        ("it stays on the other way", "servers reached by adapters, not"),
        ("one stays away", "mounted anew: servers, not 4 of 4"),
        ("it keeps less", "mounted anew: write"),
        (
            "unwatched it moves, too",
            "unwatched: servers that it reaches: expected 3 of 4, measured 4",
        ),
    ],
)
def test_each_check_of_san_path_lost_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_san(wrong, tmp_path, monkeypatch)


# second_network


def test_each_connection_of_a_file_has_as_much_as_a_stream_beside_it() -> None:
    own, peer = (PLANCK.address(node, "i") for node in ("pc11", "pc21"))
    streams = {f"s{n}": [Share(StreamEnds(f"s{n}", "pc21", (peer, n), (own, n)), 1.0)] for n in range(1, 9)}
    found = each_mb(PLANCK, {"pc11": shares(PLANCK, "pc11", "read"), **streams})
    assert found["pc11"] == pytest.approx(3 * 198 / 11 / 3 / spread(PLANCK, "ngf", "read").part, abs=0.1)
    assert sum(found[stream] for stream in streams) == pytest.approx(198 * 8 / 11, abs=0.1)
    # where the gateway's link is what bounds it, the streams have what it leaves them
    two = each_mb(PLANCK, {"pc11": shares(PLANCK, "pc11", "read"), "s1": streams["s1"]})
    assert two == pytest.approx({"pc11": 121.5, "s1": 74.3}, abs=0.2)


def play_apart(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def network(streams: Sequence[Stream]) -> str:
        return (
            next(n for n in ("i", "j") if streams[0].address in PLANCK.topology.networks[n].subnet) if streams else ""
        )

    def beside(_: Stage, __: str, jobs: Sequence[Any], streams: Sequence[Stream], ___: float) -> Beside:
        by = network(streams)
        assert len(jobs) == 2 and len(streams) in (0, 8)
        files, sent = (121.5 if by != "i" else 198 * 3 / 11), (0.0 if not by else 198.0 if by == "j" else 198 * 8 / 11)
        here = {
            "files have less": not by,
            "messages take too much": by == "i",
            "messages apart take, too": by == "j",
        }
        seen = 0.7 if here.get(wrong) else 1
        slow = wrong == ("messages have less" if by == "i" else "messages apart have less")
        if wrong == "messages weigh nothing" and by == "i":
            files = 121.5
        return Beside(files, files * seen, sent * (0.7 if slow else 1), sent)

    def together(stage: Stage, streams: Sequence[Stream], _: float) -> Any:
        leg = "ib0" if network(streams) == "i" else "ib1"
        own = PLANCK.nodes["pc21"].interfaces[leg].address
        ends = [StreamEnds(s.label, s.client, (own, n), (s.address, n)) for n, s in enumerate(streams, 1)]
        expected = expect(stage.site, ends)
        slow = 0.7 if wrong == f"alone messages have less by {network(streams)}" else 1
        measured = [
            Measured(s, "", 0, expected.rates[s.label] * slow, 0, end.source, end.destination)
            for s, end in zip(streams, ends, strict=True)
        ]
        return expected, measured

    def lone_files(stage: Stage, *_: Any) -> Both:
        assert not stage._made  # its file is gone
        seen = 121.5 * (0.7 if wrong == "they keep less" else 1)
        return Both(*[Outcome(seen, 121.5, 1.0, spread(PLANCK, "ngf", "read")) for _ in range(2)])

    words = {"beside": beside, "together": together, "lone_files": lone_files}
    words |= {"write_each": lambda *_: None, "clear": lambda *_: None}
    play(APART, PLANCK, folder, monkeypatch, words)


def test_second_network_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_apart("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("files have less", "alone: files: expected 121.5 MB/s"),
        ("alone messages have less by i", "alone: messages by i: expected 198.0 MB/s"),
        ("alone messages have less by j", "alone: messages by j: expected 198.0 MB/s"),
        ("messages take too much", "both by i: files: expected 54.0 MB/s"),
        ("messages weigh nothing", "files beside messages: in rates of ib0: expected 0.273"),
        ("messages have less", "both by i: messages: expected 144.0 MB/s"),
        ("messages apart take, too", "messages by j: files: expected 121.5 MB/s"),
        ("messages apart have less", "messages by j: messages: expected 198.0 MB/s"),
        ("they keep less", "files, afterwards: in rates of the gateway's link"),
    ],
)
def test_each_check_of_second_network_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_apart(wrong, tmp_path, monkeypatch)


# cable_for_each


def play_trunk(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved, runs, sent = dict[str, str](), 0, dict[str, int]()
    trunk = Ask(PLANCK).trunk(GATEWAYS)

    def moves(_: Any, bucket: int, member: str) -> Change:
        (sender,) = [s for s in trunk.senders if slb_bucket(mac_address(PLANCK, Port(s, "eth6"))) == bucket]
        back = (lambda: None) if wrong == "it stays" else moved.clear
        return Told("dealt", lambda: moved.update({} if wrong == "nothing moves" else {sender: member}), back)

    @contextmanager
    def transmitting(stage: Stage, streams: Sequence[Stream]) -> Iterator[Any]:
        nonlocal runs
        runs += 1
        ends = [
            StreamEnds(s.label, s.client, (stage.site.address(s.client, "n"), n), (s.address, n))
            for n, s in enumerate(streams, 1)
        ]
        choices = {(end.label, "woven"): moved[end.sender] for end in ends if end.sender in moved}
        expected = expect(stage.site, ends, choices)
        slow = 0.9 if wrong == f"run {runs} is slow" else 1

        class Running:
            def results(self) -> list[Measured]:
                found = []
                for s, end in zip(streams, ends, strict=True):
                    sent[expected.member(s.label, "woven")] += 1000
                    found.append(Measured(s, "", 0, expected.rates[s.label] * slow, 0, end.source, end.destination))
                if wrong == "another cable is idle" and runs == 1:
                    sent["n1"], sent["n2"] = 0, sent["n1"] + sent["n2"]
                return found

        yield Running()

    def sent_bytes(*_: Any) -> dict[str, int]:
        for member in trunk.near.members:
            sent.setdefault(member, 0)
        return dict(sent)

    words = {"transmitting": transmitting, "sent_bytes": sent_bytes, "dealt_to": moves}
    play(TRUNK, PLANCK, folder, monkeypatch, words)


def test_cable_for_each_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_trunk("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("run 1 is slow", "a cable each: pgw"),
        ("another cable is idle", "a cable each: idle cables: expected none, measured n1"),
        ("nothing moves", "two on one cable: pgw"),
        ("run 2 is slow", "two on one cable: pgw"),
        ("it stays", "a cable each again: pgw"),
        ("run 4 is slow", "behind nersc10g:ngf: pgw"),
        ("run 5 is slow", "afterwards: pgw"),
    ],
)
def test_each_check_of_cable_for_each_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_trunk(wrong, tmp_path, monkeypatch)
