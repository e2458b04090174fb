"""Source ports that are drawn until their streams fall as wanted: soon, or it is said that they cannot."""

import random
from dataclasses import replace
from functools import reduce
from pathlib import Path

import pytest

from causeway.errors import Unsupported
from causeway.lab.probes.nuttcp import Stream
from causeway.model.topology import Channel, ChannelEnd
from causeway.plan.paths import at_rate
from causeway.plan.streams import expect
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import _planned, coupled, draw, draw_onto, lasting, one_port
from tests.unit.here import here

PEER = ["FEN"]


def drawn(folder: Path, seed: int, accept: object) -> list[Stream]:
    stage = Stage(here(folder), random.Random(seed))
    return draw(stage, Ask(stage.site).channel(), PEER, "t", accept)  # type: ignore[arg-type]


def test_a_draw_is_the_seeds_and_is_one_that_is_wanted(tmp_path: Path) -> None:
    counts: list[list[int]] = []

    def second(count: list[int]) -> bool:
        counts.append(count)
        return count[1] == 1

    assert drawn(tmp_path, 1, second) == drawn(tmp_path, 1, lambda count: count[1] == 1)
    assert drawn(tmp_path, 1, second) != drawn(tmp_path, 2, second)
    assert counts[-1] == [0, 1, 0, 0] and all(sum(count) == 1 for count in counts)


def test_what_no_draw_can_be_is_not_tried_for_ever(tmp_path: Path) -> None:
    with pytest.raises(Unsupported) as caught:
        drawn(tmp_path, 1, lambda count: len(set(count)) == 1)  # one stream is on one member
    assert str(caught.value) == (
        "1 streams do not fall on nsd01's 4 members as this takes it: 400 draws of source ports were in vain"
        " (it sends by layer3+4)"
    )


def test_each_stream_falls_on_the_member_that_is_meant_for_it(tmp_path: Path) -> None:
    stage = Stage(here(tmp_path), random.Random(1))
    channel, peers = Ask(stage.site).channel(), ["FEN", "SN", *stage.site.diskless()[:6]]
    places = (3, 2, 3, 0, 1, 3, 2, 3)
    streams = draw_onto(stage, channel, peers, places)
    assert [stream.server for stream in streams] == peers
    assert len({stream.source_port for stream in streams}) == len(peers)
    for stream, place in zip(streams, places, strict=True):
        planned = expect(stage.site, [_planned(stage, channel, stream)])
        assert planned.member(stream.label, channel.node) == channel.members[place]


def test_a_member_that_no_port_leads_to_is_not_sought_for_ever(tmp_path: Path) -> None:
    stage = Stage(here(tmp_path), random.Random(1))
    channel = Ask(stage.site).channel()
    channel = replace(channel, host=channel.host.model_copy(update={"hash_policy": "layer2"}))
    site = replace(stage.site, channels=tuple(_sends_by(c, channel.host) for c in stage.site.channels))
    with stage.as_if(site), pytest.raises(Unsupported, match="400 source ports were in vain"):
        for place in range(4):
            draw_onto(stage, channel, PEER, [place])


def _sends_by(channel: Channel, end: ChannelEnd) -> Channel:
    ends = [end if own.node == end.node else own for own in channel.ends]
    return channel.model_copy(update={"ends": ends})


@pytest.mark.parametrize("direction", ["s", "t"])
def test_one_sides_port_is_always_the_same_and_the_others_spread_by_a_policy(direction: str, tmp_path: Path) -> None:
    stage = Stage(here(tmp_path), random.Random(1))
    channel, peers = Ask(stage.site).channel(), ["FEN", "SN"]
    for _ in range(20):
        streams = one_port(stage, channel, peers, 1191, direction, "src_dst_port")
        ports = [(s.source_port, s.data_port) if direction == "s" else (s.data_port, s.source_port) for s in streams]
        assert {known for known, _ in ports} == {1191}
        assert len({(1191 + other) // 2 % 256 % 4 for _, other in ports}) == 2
        assert [s.sender for s in streams] == ["nsd01", "nsd01"]
        assert [s.client if direction == "s" else s.server for s in streams] == peers


def test_by_the_one_port_alone_they_never_spread(tmp_path: Path) -> None:
    stage = Stage(here(tmp_path), random.Random(1))
    with pytest.raises(Unsupported, match="2 streams fall on one member of nsd01's in 400 draws, by src_port"):
        one_port(stage, Ask(stage.site).channel(), ["FEN", "SN"], 1191, "s", "src_port")


def test_streams_last_until_a_step_of_what_is_told_is_half_of_what_they_may_be_off_by(tmp_path: Path) -> None:
    stage = Stage(here(tmp_path), random.Random(1))
    alone = coupled(stage, [("nsd01", "FEN")], "b")
    eight = coupled(stage, [("nsd01", "FEN")] * 8, "b")
    assert (lasting(stage.site, alone), lasting(stage.site, eight)) == (4, 4)
    by_fen = [end for cable in stage.site.cables for end in cable.ends if end.node == "FEN" and cable.network == "b"]
    slower = reduce(lambda site, port: at_rate(site, port, 100), by_fen, stage.site)
    # 64 KiB are 0.05 % of what one stream has in 10.5 s, and 0.5 % of an eighth of it in 8.4 s
    assert (lasting(slower, alone), lasting(slower, eight)) == (1 + 11, 1 + 9)
