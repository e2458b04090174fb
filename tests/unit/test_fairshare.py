"""Max-min fair rates against their definition, and the Redpaper's numbers."""

import random
from collections.abc import Mapping, Sequence

import pytest

from causeway.plan import fairshare
from causeway.plan.fairshare import counted_bytes, tcp_goodput_mbit


def fair_share(flows: Mapping[str, Sequence[str]], capacity: Mapping[str, float]) -> dict[str, float]:
    return {flow: share.rate for flow, share in fairshare.fair_share(flows, capacity).items()}


def test_the_redpapers_wire_speed_is_the_goodput_at_mtu_1500() -> None:
    assert tcp_goodput_mbit(1000, 1500) == pytest.approx(941.482, abs=0.0005)


def test_jumbo_frames_raise_the_goodput_to_roughly_990() -> None:
    assert tcp_goodput_mbit(1000, 9000) == pytest.approx(990.04, abs=0.005)


def test_28_links_carry_what_the_milestones_netperf_summed() -> None:
    # LLNL's milestone 464: 3301 and 3288 by netperf (its -f M is MiB/s) to 14 servers with two links each
    mebibytes = 28 * tcp_goodput_mbit(1000, 9000) * 1e6 / 8 / 2**20
    assert mebibytes == pytest.approx(3304.6, abs=0.05)
    assert [round(100 * seen / mebibytes, 1) for seen in (3301, 3288)] == [99.9, 99.5]
    # in MB/s and with frames of 1500 bytes it would have been more than there is
    assert 28 * tcp_goodput_mbit(1000, 1500) / 8 < 3301


def test_nine_links_carry_a_gigabyte_and_eight_do_not() -> None:
    # LLNL's milestone 464: 1.042 GB/s by nine ftp sessions, 1 required
    link_mb = tcp_goodput_mbit(1000, 1500) / 8
    assert 8 * link_mb < 1000 < 9 * link_mb
    assert round(100 * 1042 / (9 * link_mb), 1) == 98.4


def test_a_full_segment_is_counted_as_mtu_plus_14_bytes() -> None:
    assert counted_bytes(1448, 1500) == 1514
    assert counted_bytes(10 * 8948, 9000) == 10 * 9014


def test_the_rest_of_a_transfer_takes_a_frame_of_its_own() -> None:
    # 1449 bytes: 1448 + 66 and 1 + 66
    assert counted_bytes(1449, 1500) == 1514 + 67
    assert counted_bytes(0, 1500) == 0


def test_eight_streams_on_four_members_share_as_in_the_redpaper() -> None:
    # "two of the eight connections are running at the maximum speed over two of the ports, whereas the
    # six other connections share the remaining two ports": one alone, one alone, two, four
    members = ["eth2", "eth3", "eth4", "eth4", "eth5", "eth5", "eth5", "eth5"]
    flows = {f"stream{n}": [member, f"ion{n}"] for n, member in enumerate(members)}
    links = {link for passed in flows.values() for link in passed}
    rates = fair_share(flows, dict.fromkeys(links, tcp_goodput_mbit(1000, 1500)))
    assert [int(rates[f"stream{n}"]) for n in range(8)] == [941, 941, 470, 470, 235, 235, 235, 235]


def test_streams_split_two_by_two_get_half_a_link_each() -> None:
    flows = {f"stream{n}": [f"eth{n // 2}", f"ion{n}"] for n in range(8)}
    links = {link for passed in flows.values() for link in passed}
    assert set(fair_share(flows, dict.fromkeys(links, 1000.0)).values()) == {500.0}


def test_what_a_flow_cannot_use_the_others_get() -> None:
    # b is held at 2 by its second link, so a may have 8 of the shared 10, not 5
    rates = fair_share({"a": ["shared"], "b": ["shared", "slow"]}, {"shared": 10, "slow": 2})
    assert rates == {"a": 8, "b": 2}


def test_each_share_has_the_name_of_the_link_that_bounds_it() -> None:
    shares = fairshare.fair_share({"a": ["shared"], "b": ["shared", "slow"]}, {"shared": 10, "slow": 2})
    assert {flow: share.bound for flow, share in shares.items()} == {"a": "shared", "b": "slow"}


def test_a_link_named_twice_counts_once() -> None:
    assert fair_share({"a": ["x", "x"]}, {"x": 10}) == {"a": 10}


def test_a_link_that_no_flow_passes_changes_nothing() -> None:
    assert fair_share({"a": ["x"]}, {"x": 10, "idle": 0}) == {"a": 10}


def test_no_flows_get_no_rates() -> None:
    assert fair_share({}, {"x": 10}) == {}


@pytest.mark.parametrize("seed", range(30))
def test_no_flow_could_have_more_without_a_slower_one_having_less(seed: int) -> None:
    order = random.Random(seed)
    capacity = {f"link{n}": order.uniform(1, 1000) for n in range(order.randint(1, 8))}
    flows = {f"flow{n}": order.sample(sorted(capacity), order.randint(1, len(capacity))) for n in range(12)}
    rates = fair_share(flows, capacity)

    carried = {link: sum(rates[f] for f in flows if link in flows[f]) for link in capacity}
    for link, load in carried.items():
        assert load <= capacity[link] * (1 + 1e-9)
    # the definition: each flow passes a full link on which no other flow is faster
    for flow, passed in flows.items():
        assert any(
            carried[link] >= capacity[link] * (1 - 1e-9)
            and all(rates[f] <= rates[flow] * (1 + 1e-9) for f in flows if link in flows[f])
            for link in passed
        )


@pytest.mark.parametrize(("passed", "text"), [([], "no link"), (["y"], "passes y")])
def test_a_flow_that_nothing_bounds_is_refused(passed: list[str], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        fair_share({"a": passed}, {"x": 10})
