"""The words of scenarios, as far as they take no lab: ways and pairs as computed, and what nodes print of them."""

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from causeway.folders import REPO
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.plan.paths import without_routes
from causeway.process import Result
from causeway.scenario.stage import Stage
from causeway.scenario.words import bluegene, diskless, routes
from causeway.scenario.words.logins import called, wildcard
from causeway.scenario.words.mounts import due_mounts
from tests.unit.here import Here

JUBL = load_site(REPO / "topologies/jubl/site.yaml")
ION = "R00-M0-NC-3"
#: `ping -n -R` from nsd01 to FEN when FEN lacks its host route, as the lab prints it.
PRINTED = """\
PING 10.2.64.221 (10.2.64.221) from 10.1.33.202 : 56(124) bytes of data.
64 bytes from 10.2.64.221: icmp_seq=1 ttl=63 time=0.040 ms
RR: \t10.2.64.202
\t10.2.64.221
\t10.2.64.221
\t10.1.44.1
\t10.1.33.202


--- 10.2.64.221 ping statistics ---
1 packets transmitted, 1 received, 0% packet loss, time 0ms
"""


class Prints(Here):
    """Every command prints the same."""

    printed = PRINTED

    def on(self, node: str, *argv: str, timeout_s: float = 60) -> Result:  # noqa: ARG002
        return Result((node, *argv), 0, self.printed, "")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(Prints(JUBL, tmp_path), random.Random(1))


def test_the_round_trip_goes_back_by_the_gateway_without_the_host_route() -> None:
    lacking = without_routes(JUBL, ["FEN"], [JUBL.known_by("nsd01").address])
    assert routes.round_trip(JUBL, "nsd01", "FEN") == ["nsd01", "FEN", "nsd01"]
    assert routes.round_trip(lacking, "nsd01", "FEN") == ["nsd01", "FEN", "deisa", "nsd01"]


def test_the_way_that_a_packet_has_recorded_names_each_node_once(stage: Stage) -> None:
    assert routes.recorded(stage, "nsd01", "FEN") == ["nsd01", "FEN", "deisa", "nsd01"]


def test_pairs_are_cut_by_a_missing_route_and_by_a_strict_filter() -> None:
    nodes = ["nsd01", "cn01", "SN", "FEN"]
    assert routes.computed_cut(JUBL, nodes) == []
    without = without_routes(JUBL, ["cn01"], ["b"])
    assert routes.computed_cut(without, nodes) == ["FEN > cn01", "SN > cn01", "cn01 > FEN", "cn01 > SN"]
    lacking = without_routes(JUBL, ["FEN"], [JUBL.known_by("nsd01").address])
    assert routes.computed_cut(lacking, nodes, 2) == []
    assert routes.computed_cut(lacking, nodes, 1) == ["FEN > nsd01", "nsd01 > FEN"]


def test_a_gateway_sends_on_by_the_port_of_whom_it_is_for() -> None:
    to = JUBL.known_by("nsd02").address
    lacking = without_routes(JUBL, [ION], [to])
    assert routes.sent_on_by(lacking, ION, to) == ("deisa", ["nsd02"])


@pytest.mark.parametrize(
    ("addresses", "pattern"),
    [
        (["10.2.64.33", "10.2.64.34"], "10.2.64.*"),
        (["10.2.64.33"], "10.2.64.*"),
        (["10.2.64.254", "10.2.65.1"], "10.2.*"),
        (["10.2.64.1", "172.16.0.1"], "*"),
    ],
)
def test_a_wildcard_has_the_numbers_that_all_addresses_begin_with(addresses: list[str], pattern: str) -> None:
    assert wildcard(addresses) == pattern


def test_a_node_mounts_what_its_cluster_does_of_all_servers(stage: Stage) -> None:
    assert due_mounts(stage, ION) == {"home1": "4 of 4", "work": "4 of 4"}
    assert due_mounts(stage, "cn01") == {}


def test_a_start_script_has_two_digits() -> None:
    assert bluegene.start_script(5, "network") == "/bgl/dist/etc/rc.d/rc3.d/S05network"


def test_a_boot_is_told_by_its_console_and_one_that_has_not_ended_by_nothing(stage: Stage, tmp_path: Path) -> None:
    logs = tmp_path / "service" / "logs"
    logs.mkdir(parents=True)
    consoles: Mapping[str, str] = {
        "up": "[ 1.0] sshd stays off\n[ 2.5] boot ended: up\n",
        "ailing": "[ 3.0] boot ended: up, but failed: S40fs\n",
        "slow": "[ 1.0] mounting\n",
    }
    for node, text in consoles.items():
        (logs / f"{node}.log").write_text(text)
    assert diskless.how_booted(stage, list(consoles)) == ["up", "up, but failed: S40fs", ""]
    assert diskless.saying(stage, list(consoles), "stays off") == ["up"]


def test_a_lease_is_the_last_word_of_its_line() -> None:
    config = "interface=bond0\ndhcp-range=10.2.64.0,static,255.255.252.0,3600\nlog-dhcp\n"
    assert diskless.lent_for(config, 120).splitlines()[1] == "dhcp-range=10.2.64.0,static,255.255.252.0,120"


def test_a_node_is_called_by_its_own_name_by_its_first_or_by_its_address() -> None:
    assert called(JUBL, "FEN") == "FEN"
    assert called(JUBL, "10.2.64.221") == "10.2.64.221"
    (leg,) = JUBL.nodes["FEN"].interfaces.values()

    def named(*names: str) -> Site:
        node = JUBL.nodes["FEN"].model_copy(update={"interfaces": {"bond0": leg.model_copy(update={"names": names})}})
        return replace(JUBL, nodes=JUBL.nodes | {"FEN": node})

    assert called(named("fen-b", "front"), "FEN") == "fen-b"
    assert called(named(), "FEN") == "10.2.64.221"


def test_a_filter_drops_the_request_or_else_the_answer() -> None:
    to, own = JUBL.known_by("nsd01").address, JUBL.known_by("FEN").address
    lacking = without_routes(JUBL, ["FEN"], [to])
    dropping = partial(routes.computed_dropping, lacking, "FEN", own, "nsd01", to)
    assert [dropping(mode) for mode in (0, 2, 1)] == ["", "", "nsd01"]
    back = partial(routes.computed_dropping, lacking, "nsd01", to, "FEN", own)
    assert [back(mode) for mode in (0, 2, 1)] == ["", "", "nsd01"]
