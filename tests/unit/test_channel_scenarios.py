"""Scenarios of what the makers' channels do: each check fails where what it checks is not so."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from causeway import wait
from causeway.errors import CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.lab.changes.lacp import static_host
from causeway.lab.changes.switch_ends import static_switch, wrong_port
from causeway.lab.probes.nuttcp import Measured, Stream
from causeway.model.load import load_site
from causeway.model.topology import ChannelEnd
from causeway.plan.fairshare import counted_bytes
from causeway.plan.streams import StreamEnds, expect
from causeway.render.network import BOND_POLICY
from causeway.report.result import Comparison
from causeway.scenario.cast import Ask, Channel
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from causeway.scenario.words import channels as words
from causeway.scenario.words.channels import Try, steady, tries
from causeway.scenario.words.streams import Lone, Outcome
from tests.unit.here import SITE, Here, compared, here, noted, stand_in

STATIC_OR_LACP = load("channel_static_or_lacp")
CAST: Any = STATIC_OR_LACP.cast_by(Ask(SITE))[0]


@pytest.fixture(autouse=True)
def busy(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ports that are in use on every node."""
    ports: list[int] = []
    own = IPv4Address("10.2.64.202")
    monkeypatch.setattr(words, "sockets", lambda *_: [((own, port), (own, 22), "06") for port in ports])
    return ports


class Ends:
    """A channel whose ends do as the kernel and a switch do, but for what `wrong` names."""

    def __init__(self, channel: Channel, wrong: str) -> None:
        self.channel, self.wrong = channel, wrong
        self.static_host = self.static_switch = False
        self.stray = ""

    def changed(self, **values: Any) -> Change:
        before = {name: getattr(self, name) for name in values}

        def back() -> None:
            if self.wrong != f"{next(iter(values))} stays":
                vars(self).update(before)

        return noted(str(values), lambda: vars(self).update(values), back)

    def members_up(self, _stage: Stage, end: ChannelEnd) -> list[str]:
        host = end == self.channel.host
        mine, theirs = (self.static_host, self.static_switch) if host else (self.static_switch, self.static_host)
        if mine:
            return list(end.members)
        if theirs:
            alone = end.members[-1:] if host else []
            return (
                list(end.members) if self.wrong == ("a host" if host else "a switch") + " needs no partner" else alone
            )
        there = {m: self.channel.opposite(m) if host else m for m in end.members}  # by the switch's ports
        return [m for m in end.members if there[m] != self.stray or self.wrong == "LACP does not find it"]

    def lost(self, stage: Stage, channel: Channel, tried: Sequence[Try]) -> list[str]:
        hears = sends = self.members_up(stage, channel.host)
        if self.static_host and not self.static_switch:
            hears = [] if self.wrong != "a switch takes up what it likes" else hears
        if self.wrong == "a lone member hears them all" and self.static_switch and not self.static_host:
            hears = channel.members
        if self.stray and self.static_host and self.wrong != "a wrong port is as good":
            sends = [member for member in sends if channel.opposite(member) != self.stray]
        by_lacp = not self.static_host
        found = [t for t in tried if t.back not in hears or (t.there not in sends and not by_lacp)]
        if not self.static_switch:  # it deals as it pleases to those that are in
            found = [] if hears else list(tried)
        if self.wrong == "it never works" or (self.wrong == "lost for ever" and not found and self.static_switch):
            found = list(tried)
        return sorted(each.label for each in found)

    def lights(self, _stage: Stage, channel: Channel) -> list[str]:
        mixed = self.static_host != self.static_switch
        one = self.static_switch if self.wrong == "a light goes out at the switch" else self.static_host
        return channel.members[1:] if "a light goes out" in self.wrong and mixed and one else channel.members


def play(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Comparison]:
    ends = Ends(CAST.server, wrong)
    real = wait.until
    at_once = {"deadline_s": 0.1, "poll_s": 0.001}
    monkeypatch.setattr(wait, "until", lambda *words, **options: real(*words, **options | at_once))
    patches: dict[str, Callable[..., Any]] = {
        "static_host": lambda *_: ends.changed(static_host=True),
        "static_switch": lambda *_: ends.changed(static_switch=True),
        "wrong_port": lambda _end, member: ends.changed(stray=member),
        "agreed": lambda *_: None,
        "members_up": ends.members_up,
        "lost": ends.lost,
        "lights": ends.lights,
    }
    stand_in(monkeypatch, STATIC_OR_LACP.play, patches)
    return compared(STATIC_OR_LACP.play, CAST, folder)


def test_it_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(c.ok for c in play("", tmp_path, monkeypatch))


#: what does not hold -> the check that says so
FAILURES = {
    "it never works": "otherwise than computed, LACP at both ends, not none: not within",
    "a host needs no partner": "members in: not within 0.1 s; last: ['eth2', 'eth3', 'eth4', 'eth5']",
    "a lone member hears them all": "otherwise than computed, zam870 static, not none: not within",
    "a light goes out at the switch": "members with a carrier, zam870 static: expected eth2, eth3",
    "a switch needs no partner": "members in at the switch, not none: not within 0.1 s",
    "a switch takes up what it likes": "otherwise than computed, nsd01 static, not none: not within",
    "a light goes out at the host": "members with a carrier, nsd01 static: expected eth2, eth3",
    "lost for ever": "otherwise than computed, both static, not none: not within",
    "a wrong port is as good": "otherwise than computed, wrong port, both static, not none: not within",
    "LACP does not find it": "members in at both ends, wrong port, LACP, not ",
    "stray stays": "members in, afterwards: expected eth2, eth3, eth4, eth5, measured ",
}


@pytest.mark.parametrize("wrong", FAILURES)
def test_each_check_fails_where_what_it_checks_is_not_so(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed) as caught:
        play(wrong, tmp_path, monkeypatch)
    assert FAILURES[wrong] in str(caught.value)


def test_who_is_remade_sends_by_a_policy_of_linuxs_at_a_switch_of_open_vswitchs() -> None:
    with pytest.raises(Unsupported, match="makers has no channel of two members or more"):
        Ask(load_site(REPO / "tests/sites/makers.yaml")).remade(16, by="mac source")


def test_its_peers_are_answered_by_two_members_at_least(tmp_path: Path) -> None:
    found = tries(Stage(here(tmp_path), random.Random(1)), CAST.server, CAST.peers, "mac source")
    assert len(found) == 4 * len(CAST.peers)
    by_peer = {each.label.split()[-1]: {other.back for other in found if other.target == each.target} for each in found}
    assert all(len(backs) == 1 for backs in by_peer.values())  # all of a peer's come by one, as it has one address
    assert len({each.back for each in found}) > 1 and len({each.there for each in found}) > 1
    ones = CAST.peers[:1]
    assert len({each.back for each in tries(Stage(here(tmp_path), random.Random(1)), CAST.server, ones)}) == 1


def test_ports_that_rest_since_another_scenario_are_drawn_again(tmp_path: Path, busy: list[int]) -> None:
    def ports() -> list[int]:
        found = tries(Stage(here(tmp_path), random.Random(1)), CAST.server, CAST.peers[:2], "mac source")
        return [each.source[1] for each in found]

    first = ports()
    busy += first[1:3]
    again = ports()
    assert len(set(again)) == len(first) and not set(again) & set(busy)
    assert {first[0], first[3]} <= set(again)


def test_what_flickers_is_not_steady(tmp_path: Path) -> None:
    stage = Stage(here(tmp_path), random.Random(1))
    looks = [["a"], ["a", "b"], ["a"], ["a", "b"], ["a", "b"], ["a", "b"], ["a", "b"], ["a", "b"], ["a", "b"], ["c"]]
    steady(stage, "members", lambda: looks.pop(0), is_=["a", "b"], within_s=5)
    assert looks == [["c"]]


class Quiet(Here):
    """Its bond has no routes."""

    def enter(self, node: str, argv: Sequence[str]) -> list[str]:  # noqa: ARG002
        return ["true"]

    plug = enter


def test_a_host_is_static_by_its_own_policy_and_then_speaks_lacp_as_before(tmp_path: Path) -> None:
    change = static_host(Quiet(SITE, tmp_path), CAST.server.host)
    (there,), (back,) = change.there, change.back
    assert "link set bond0 type bond mode balance-xor xmit_hash_policy layer3+4 miimon 100" in there.argv
    assert "link set bond0 type bond mode 802.3ad lacp_rate fast xmit_hash_policy layer3+4 miimon 100" in back.argv


def test_a_switchs_end_is_remade_with_its_members_mtu_and_policy(tmp_path: Path) -> None:
    end = CAST.server.switch
    change = static_switch(here(tmp_path), end, "mac source")
    made, policy = change.there
    assert made.argv[3:] == (end.name, "br-b", "1500", *end.members)
    assert (policy.argv, policy.stdin) == (("python3", "-", end.name, "mac source"), BOND_POLICY.read_text())
    assert change.back[0].argv[3:] == (end.name, "br-b", "balance-slb", "fast", *end.members)
    assert {step.node for step in (*change.there, *change.back)} == {"zam870"}


def test_a_cable_in_a_wrong_port_is_a_member_less_at_the_switch() -> None:
    end = CAST.server.switch
    change = wrong_port(end, end.members[1])
    for step in (*change.there, *change.back):
        assert (step.node, step.argv[3:]) == ("zam870", (end.name, end.members[1]))


ONE_PORT = load("one_port_one_link")
SERVER: Any = ONE_PORT.cast_by(Ask(SITE))[0]


class Server:
    """A channel's host that sends by the policy in force, but for what `wrong` names."""

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong
        self.policy = before = SERVER.server.host.hash_policy
        assert before == "layer3+4"

    def sends_by(self, _lab: Any, _end: ChannelEnd, policy: str) -> Change:
        before = self.policy

        def back() -> None:
            if not (self.wrong == "its policy stays" and before == "layer3+4"):
                self.policy = before

        return noted(policy, lambda: setattr(self, "policy", policy), back)

    def measure(self, stage: Stage, end: ChannelEnd, streams: Sequence[Stream], policies: dict[str, str]) -> Outcome:
        ways = {s.label: (s, SITE.address(s.client if s.server == end.node else s.server, "b")) for s in streams}
        own = SITE.address(end.node, "b")
        ends = [StreamEnds(k, end.node, (own, s.source_port), (at, s.data_port)) for k, (s, at) in ways.items()]
        expected = expect(stage.site, ends, policies=policies)
        taken = expect(stage.site, ends, policies={end.node: self.policy})
        observed = {each.label: taken.member(each.label, end.node) for each in ends}
        if self.wrong == f"{self.policy} spreads":
            observed = {label: end.members[i % 4] for i, label in enumerate(observed)}
        if self.wrong == f"{self.policy} takes one link" or self.wrong == f"{self.policy} takes another link":
            observed = dict.fromkeys(observed, end.members[0])
        slow = 0.5 if self.wrong == f"{self.policy} is slow" else 1
        measured = {
            each.label: Measured(
                ways[each.label][0], "", 1.0, slow * expected.rates[each.label], 0, each.source, each.destination
            )
            for each in ends
        }
        sent = dict.fromkeys(end.members, 0)
        for label in observed:
            sent[expected.member(label, end.node)] += counted_bytes(2**20, expected.mtus[label])
        return Outcome(end, expected, measured, observed, sent, 4.0)


def play_one_port(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Comparison]:
    own: dict[str, Any] = ONE_PORT.play.__globals__
    server = Server(wrong)
    monkeypatch.setitem(own, "sends_by", server.sends_by)
    monkeypatch.setitem(own, "measure_streams", server.measure)
    return compared(ONE_PORT.play, SERVER, folder)


def test_one_port_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(c.ok for c in play_one_port("", tmp_path, monkeypatch))


#: what does not hold -> the check that says so
ONE_PORTS_FAILURES = {
    "src_dst_port takes one link": "src_dst_port, from port 1191: expected several links, measured one link",
    "src_dst_port is slow": "src_dst_port, from port 1191: rate of all by eth",
    "src_port spreads": "src_port, from port 1191: expected one link, measured several links",
    "src_port takes another link": "src_port, from port 1191: streams per member: expected 0 0 0 8, measured 8 0 0 0",
    "src_port is slow": "src_port, from port 1191: rate of all by eth",
    "dst_port spreads": "dst_port, to port 1191: expected one link, measured several links",
    "dst_port takes another link": "dst_port, to port 1191: streams per member: expected 0 0 0 8, measured 8 0 0 0",
    "its policy stays": "streams per member, afterwards: expected ",
}


@pytest.mark.parametrize("wrong", ONE_PORTS_FAILURES)
def test_each_check_of_one_port_fails_where_what_it_checks_is_not_so(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed) as caught:
        play_one_port(wrong, tmp_path, monkeypatch)
    assert ONE_PORTS_FAILURES[wrong] in str(caught.value)


IMBALANCE = load("channel_imbalance")
DEALT: Any = IMBALANCE.cast_by(Ask(SITE))[0]
#: The wire's TCP payload, and what an I/O node receives, in Mbit/s.
WHOLE, RECEIVES = 941.48, 846


def play_imbalance(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Comparison]:
    """The scenario where streams from its server do as computed, but for what `wrong` names; without FEN's part."""
    own: dict[str, Any] = IMBALANCE.play.__globals__

    def measure(stage: Stage, end: ChannelEnd, streams: Sequence[Stream]) -> Outcome:
        back = streams[0].direction == "r"
        ends = []
        for s in streams:
            here, there = (SITE.address(s.client, "b"), s.source_port), (s.address, s.data_port)
            ends.append(StreamEnds(s.label, s.sender, *((there, here) if back else (here, there))))
        expected = expect(stage.site, ends)
        observed = {each.label: expected.member(each.label, end.node) for each in ends}
        rates = dict(expected.rates)
        published = not back and sorted(rates.values())[-2:] == pytest.approx([RECEIVES] * 2)
        if published and wrong == "they fall otherwise":
            observed = dict.fromkeys(observed, end.members[0])
        if published and wrong == "the nodes take what the wire has":
            rates = {label: WHOLE if rate > RECEIVES - 1 else rate for label, rate in rates.items()}
        measured = {
            each.label: Measured(s, "", 1.0, rates[each.label], 0, each.source, each.destination)
            for s, each in zip(streams, ends, strict=True)
        }
        sent = dict.fromkeys(end.members, 0)
        for label in observed:
            sent[expected.member(label, end.node)] += counted_bytes(2**20, expected.mtus[label])
        return Outcome(end, expected, measured, observed, sent, 4.0)

    monkeypatch.setitem(own, "measure_streams", measure)
    monkeypatch.setitem(own, "one_stream", lambda *_, **__: Lone(1.0, "the wire's own rate", 1.0, None))  # type: ignore
    monkeypatch.setitem(own, "come_elsewhere", lambda *_: 0)
    return compared(IMBALANCE.play, replace(DEALT, front=None), folder)


def test_the_published_split_gives_two_what_a_node_receives_two_a_half_and_four_a_quarter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = play_imbalance("", tmp_path, monkeypatch)
    rates = [c.expected for c in found if c.what.startswith("read, as published: rate of ")]
    published = [231.5, 461.1, 236.4, 846.8, 845.4, 236.2, 479.6, 237.5]  # Redpaper, nc-3 to nf-4
    assert [abs(float(ours) / theirs - 1) < 0.05 for ours, theirs in zip(rates, published, strict=True)] == [True] * 8


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("they fall otherwise", "streams per member, as published: expected 1 1 2 4, measured 8 0 0 0"),
        ("the nodes take what the wire has", "read, as published: rate of nsd01:t:r00-m0-nd-4: expected 846.0"),
    ],
)
def test_each_check_of_the_published_split_fails_where_it_is_not_so(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed) as caught:
        play_imbalance(wrong, tmp_path, monkeypatch)
    assert said in str(caught.value)
