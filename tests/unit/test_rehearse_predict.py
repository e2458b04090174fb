"""What a change moves, computed: who reaches whom, by what, how fast, and what is missing."""

import base64
import hmac
import json
import time
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from random import Random

import pytest

from causeway.cli.app import main
from causeway.folders import REPO, sites
from causeway.lab.deploy import write
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.rehearse.alike import alike
from causeway.rehearse.answer import Move, Prediction
from causeway.rehearse.change import Change, read_change
from causeway.rehearse.commands import apply
from causeway.rehearse.predict import predict
from causeway.rehearse.rates import Rates, falls, moved, patterns
from causeway.rehearse.reach import Reach
from causeway.rehearse.state import State
from causeway.render.secrets import Secrets
from causeway.render.site import render
from tests.sites.draw import text as drawn

JUBL = REPO / "topologies" / "jubl" / "site.yaml"
SMALL = REPO / "topologies" / "small" / "site.yaml"
SITE = load_site(SMALL)


def after(*commands: str, site: Site = SITE) -> Site:
    state = State(site)
    for line in commands:
        node, _, command = line.partition("# ")
        for name in [node] if node in site.nodes else site.nodes_of(node):
            apply(state, name, command)
    return state.site


def predicted(*commands: str, site: Site = SITE) -> Prediction:
    return predict(Change(site, after(*commands, site=site)), "a change")


def of_file(tmp_path: Path, text: str, name: str, site: Path = SMALL) -> Prediction:
    (tmp_path / name).write_text(text)
    return predict(read_change(site, None, tmp_path / name), name)


def told(prediction: Prediction, turn: str) -> list[tuple[str, str, str, int]]:
    return [(move.about, *move.example, move.count) for move in prediction.moves if move.turn == turn]


# reach


@pytest.mark.parametrize("source", [*sites(), *range(8)])
def test_one_of_nodes_that_are_alike_stands_for_all(source: str | int, tmp_path: Path) -> None:
    file = REPO / "topologies" / str(source) / "site.yaml"
    if isinstance(source, int):
        file = tmp_path / "site.yaml"
        file.write_text(drawn(source))
    site = load_site(file)
    reach = Reach(site)
    hosts = [name for name, node in site.nodes.items() if node.interfaces]
    each = {
        (a, Port(b, device)): reach.talk(a, Port(b, device))
        for a in hosts for b in hosts if a != b for device in site.nodes[b].interfaces
    }  # fmt: skip
    assert reach.talks == each


@pytest.mark.parametrize(
    "change",
    [
        "wren# ip route del 10.30.0.11", "wren# sysctl -w net.ipv4.conf.all.rp_filter=1",
        "wren# ip link set eth0 mtu 1400", "basin# ip link set wren mtu 1400", "wren# ip link set eth0 down",
    ],
)  # fmt: skip
def test_who_is_not_alike_stands_alone(change: str) -> None:
    assert ["lark", "wren", "gull"] in alike(SITE)
    assert ["lark", "gull"] in alike(after(change))


def test_who_has_a_route_of_its_own_elsewhere_is_not_like_the_others() -> None:
    groups = alike(after("pier# ip route add 10.20.0.32 via 10.30.0.1"))
    assert ["wren"] in groups


def test_of_288_nodes_most_are_alike_and_all_pairs_are_there() -> None:
    site = load_site(JUBL, {"io": 288})
    assert max(map(len, alike(site))) == 288
    assert len(Reach(site).talks) == 91168


def test_a_talk_has_ways_size_rate_and_what_it_hangs_on() -> None:
    reach = Reach(SITE)
    near, far = reach.known("lark", "quay1"), reach.known("lark", "pier")
    assert (near.there, near.back, near.mtu, near.rate) == (("basin",), ("basin",), 1500, 941.482)
    assert (far.there, far.rate) == (("basin", "lock"), 470.741)
    assert near.needs == {"basin", "basin:{a} - {a}:eth0"}  # quay1's side is a channel
    assert far.needs == {"basin", "basin:{a} - {a}:eth0", "lock", "basin:lock - lock:eth0", "lock:{b} - {b}:eth0"}


def test_a_fabric_hangs_on_no_spine() -> None:
    reach = Reach(load_site(REPO / "topologies" / "xe" / "site.yaml"))
    talk = reach.talk("x1", Port("x3", "ib0"))
    assert len(talk.there) == 3
    assert {thing for thing in talk.needs if " - " not in thing} == {talk.there[0], talk.there[2]}


def test_a_route_that_is_gone_cuts_both_off_and_says_on_which_way() -> None:
    reach = Reach(after("pier# ip route del default"))
    assert reach.known("pier", "lark").told("pier", "lark") == "no: pier has no route to lark"
    assert reach.known("lark", "pier").told("lark", "pier") == "no: there, and not back: pier has no route to lark"


def test_large_packets_that_a_switch_drops_stall_and_smaller_ends_do_not() -> None:
    large = after("lark# ip link set eth0 mtu 9000", "wren# ip link set eth0 mtu 9000")
    talk = Reach(large).known("lark", "wren")
    assert talk.told("lark", "wren") == (
        "large packets are lost: packets of 9000 are lost where the MTU is 1500, at basin towards lark"
    )
    assert Reach(large).known("lark", "gull").works  # its TCP says 1500
    assert Reach(large).known("lark", "pier").mtu == 1500


def test_a_router_tells_of_its_smaller_mtu_and_a_route_has_one_of_its_own() -> None:
    assert Reach(after("lock# ip link set eth0 mtu 1400")).known("pier", "lark").mtu == 1400
    routed = after("lark# ip route replace 10.30.0.0/24 via 10.20.0.1 mtu 1300")
    assert Reach(routed).known("lark", "pier").mtu == 1300


def test_a_reverse_path_filter_drops_what_would_be_answered_by_another_way() -> None:
    site = after("lark# ip route del 10.30.0.11", "quay1# sysctl -w net.ipv4.conf.all.rp_filter=1")
    talk = Reach(site).known("lark", "quay1")
    assert talk.told("lark", "quay1") == "no: quay1 drops what comes by another way than it would answer (rp_filter)"
    loose = after("lark# ip route del 10.30.0.11", "quay1# sysctl -w net.ipv4.conf.eth0.rp_filter=2")
    assert Reach(loose).known("lark", "quay1").works


def test_a_route_by_several_gateways_is_not_predicted_and_is_no_regression() -> None:
    found = predicted("pier# ip route replace default nexthop via 10.30.0.1 nexthop via 10.30.0.11")
    assert found.exit_code == 0
    assert found.moves[0].about == "reaches"
    assert "through any of 10.30.0.1, 10.30.0.11" in found.moves[0].after


def test_an_address_of_an_interface_that_is_down_is_answered_by_another() -> None:
    reach = Reach(after("quay1# ip link set eth0 down"))
    assert reach.talk("lark", Port("quay1", "eth0")).works  # by its host route over bond0
    assert not reach.talk("pier", Port("quay1", "eth0")).works


# rates


def rates(site: Site, what: str) -> Rates:
    reach = Reach(site)
    return next(p for p in patterns(reach) if p.what == what).rates(reach)


def test_eight_streams_from_a_server_get_what_dice_give_them() -> None:
    site = load_site(JUBL)
    dealt = rates(site, "streams from nsd01 by bond0")
    assert 3150 < dealt.mean < 3450  # of 3766: 4 * (1 - (3/4)^8) = 3.6 members of 4 carry some; one alone takes 846
    assert dealt.worst_tenth == pytest.approx(2 * 941.48 + 846, rel=0.001)
    assert set(dealt.members or {}) == {"eth2", "eth3", "eth4", "eth5"}
    assert rates(site, "streams from nsd01 by bond0") == dealt
    layer2 = rates(after("nsd# echo layer2 > /sys/class/net/bond0/bonding/xmit_hash_policy", site=site),
                   "streams from nsd01 by bond0")  # fmt: skip
    assert len(set(layer2.values)) == 1  # no port counts


def test_a_switch_with_a_key_of_its_own_deals_like_dice_too() -> None:
    site = after("basin# ovs-vsctl set port quay1 bond_mode=balance-tcp")
    assert len(set(rates(site, "streams to quay1 by bond0").values)) > 1
    assert len(set(rates(SITE, "streams to quay1 by bond0").values)) == 1


def test_files_get_what_the_network_lets_through() -> None:
    site = load_site(JUBL)
    assert rates(site, "nodes of JUBL write /home1").mean == pytest.approx(
        2 * 115.6 + 6 * 73.2, rel=0.01
    )  # SN, FEN, I/O nodes


@pytest.mark.parametrize(
    ("before", "now", "is_moved", "is_worse"),
    [
        ([100.0] * 10, [100.0] * 10, False, False),
        ([100.0] * 10, [99.5] * 10, False, False),
        ([100.0] * 10, [98.0] * 10, True, True),
        ([100.0] * 10, [102.0] * 10, True, False),
        ([100.0] * 10, [120.0] * 8 + [80.0] * 2, True, True),  # the worst tenth
        ([100.0, 50.0] * 50, [50.0, 100.0] * 50, False, False),  # other draws, the same dice
        ([100.0] * 10, [], True, True),
        ([], [100.0] * 10, True, False),
        ([], [], False, False),
    ],
)
def test_less_is_worse_if_it_is_more_than_chance(
    before: list[float], now: list[float], is_moved: bool, is_worse: bool
) -> None:
    pair = Rates(tuple(before)), Rates(tuple(now))
    assert (moved(*pair), falls(*pair)) == (is_moved, is_worse)


# whole changes


@pytest.mark.parametrize("name", sites())
def test_no_change_moves_nothing(name: str) -> None:
    site = load_site(REPO / "topologies" / name / "site.yaml")
    found = predict(Change(site, site), "none")
    assert (found.moves, found.files, found.exit_code, found.verdict) == ([], {}, 0, "no regression")


def test_a_change_and_its_way_back_move_nothing() -> None:
    found = predicted("wren# ip route del 10.30.0.11", "wren# ip route add 10.30.0.11 via 10.20.0.11",
                      "basin# ip link set wren mtu 9000", "basin# ip link set wren mtu 1500")  # fmt: skip
    assert found.moves == []


def test_who_is_cut_off_is_a_regression() -> None:
    found = predicted("pier# ip route del default")
    assert found.exit_code == 1
    assert ("reaches", "yes", "no: pier has no route to quay1", 6) in told(found, "worse")


def test_a_new_client_without_a_route_back_is_a_regression(tmp_path: Path) -> None:
    text = """
nodes:
  buoy: {cluster: Fleet, role: client, interfaces: {eth0: {network: sea, address: 10.20.0.40, names: [buoy]}}}
links:
  - {ends: [pier:eth0, lock:pier]}
  - {ends: [lock:eth0, basin:lock], rate_mbit: 500}
  - {ends: [buoy:eth0, basin:buoy]}
"""
    found = of_file(tmp_path, text, "new.yaml")
    assert ("reaches", "-", "no: there, and not back: buoy has no route to pier", 1) in told(found, "worse")
    assert ("node", "-", "buoy", 0) in told(found, "other")
    assert "buoy" in found.files["/etc/network/interfaces"]
    assert set(found.files["/etc/hosts"]) == {name for name, node in SITE.nodes.items() if node.cluster} | {"buoy"}
    routed = text.replace("names: [buoy]}}}", "names: [buoy]}}, routes: [{to: land, via: 10.20.0.1}]}")
    assert of_file(tmp_path, routed, "routed.yaml").exit_code == 0


def jumbo(*order: str) -> str:
    ports = [end.device for cable in SITE.cables for end in cable.ends if end.node == "basin"]
    parts = {
        "switch": [f"basin# ip link set {port} mtu 9000" for port in ports],
        "hosts": ["quay?# ip link set bond0 mtu 9000", *(f"{n}# ip link set eth0 mtu 9000" for n in ("lark", "lock"))],
    }
    return "\n".join(line for part in order for line in parts[part])


def test_jumbo_frames_are_no_regression_in_the_right_order_and_one_in_the_wrong(tmp_path: Path) -> None:
    right = of_file(tmp_path, jumbo("switch", "hosts"), "right.txt")
    assert (right.exit_code, right.worse) == (0, [])
    assert "one stream" in {move.about for move in right.moves if move.turn == "better"}
    wrong = of_file(tmp_path, jumbo("hosts", "switch"), "wrong.txt")
    assert wrong.exit_code == 1
    assert {move.about.partition(" after line")[0] for move in wrong.worse} == {"reaches"}
    assert wrong.worse[0].about.startswith("reaches after line")
    assert [move for move in wrong.moves if move.turn == "better"] == [m for m in right.moves if m.turn == "better"]


def test_a_fifth_server_without_its_route_at_the_router_is_found(tmp_path: Path) -> None:
    text = "pools:\n  nsd: {names: [nsd01, nsd02, nsd03, nsd04, nsd05], hosts: [202, 203, 205, 206, 207]}\n"
    found = of_file(tmp_path, text, "fifth.yaml", JUBL)
    assert ("8 nodes of JUBL write /home1", "deisa has no route to 10.1.33.207") in {
        (about, now) for about, _, now, _ in told(found, "worse")
    }
    assert "nsd01, nsd02, nsd03, nsd04, nsd05" in {
        now for about, _, now, _ in told(found, "other") if "servers" in about
    }


def test_a_channel_that_becomes_a_link_is_something_new_to_hang_on() -> None:
    found = predicted("quay1# ip link set eth2 down", "quay1# ip link set eth3 down")
    assert ("hangs on", "nothing else", "basin:quay1-1 - quay1:eth1") in {w[:3] for w in told(found, "worse")}


def test_filesystems_that_are_gone_are_mounted_no_more_or_have_too_few_servers(tmp_path: Path) -> None:
    gone = of_file(tmp_path, "filesystems: {work: null}\nclusters: {JUBL: {mounts: [home1]}}\n", "gone.yaml", JUBL)
    assert ("filesystem", "work", "gone", 0) in told(gone, "worse")
    less = of_file(tmp_path, "clusters: {JUBL: {mounts: [home1]}}\n", "less.yaml", JUBL)
    assert [w[:3] for w in told(less, "worse")] == [("mounts work", "yes", "no")]
    more = of_file(tmp_path, "clusters: {JUMP: {mounts: [work]}}\n", "more.yaml", JUBL)
    assert more.exit_code == 0
    site = load_site(JUBL)
    one, two = (f"FEN# ip route replace 10.1.33.{n} via 10.2.64.220" for n in (202, 203))  # SN does not forward
    assert "mounts home1" not in {move.about for move in predicted(one, site=site).worse}  # parity 1
    few = predicted(one, two, site=site)
    assert ("mounts home1", "yes", "too few of its servers answer", 0) in told(few, "worse")


def test_a_grant_that_somebody_must_give_is_said(tmp_path: Path) -> None:
    base = tmp_path / "base.yaml"
    base.write_text(JUBL.read_text().replace("mounts: [home1, work]", "mounts: []"))
    (tmp_path / "mounts.yaml").write_text("clusters: {JUBL: {mounts: [home1]}}\n")
    found = predict(read_change(base, None, tmp_path / "mounts.yaml"), "x")
    assert ("grant", "-", "JUMP must know JUBL's key, and grant it what it mounts", 0) in told(found, "other")


def test_what_a_nodes_own_files_lack_of_names_keys_and_exports(tmp_path: Path) -> None:
    site = load_site(JUBL)
    files = {path.removeprefix("nodes/"): file for path, file in render(site, Secrets(site)).items()}
    mine = {path: files[path] for path in ("nsd01/etc/hosts", "SN/etc/exports")}
    mine |= {path: files[path] for path in ("nsd02/etc/ssh/ssh_known_hosts", "nsd02/root/.ssh/authorized_keys")}
    folder = tmp_path / "mine"
    write(mine, folder)
    assert predict(read_change(JUBL, None, folder), "the same").moves == []
    for path in mine:
        lines = (folder / path).read_text().splitlines()
        (folder / path).write_text("\n".join(line for line in lines if "cn02" not in line and "gpfsvar" not in line))
    io_nodes = [str(site.known_by(node).address) for node in site.diskless()]
    hosts = folder / "nsd01/etc/hosts"
    hosts.write_text(hosts.read_text().replace("10.1.33.11\t", "10.1.33.99\t"))
    found = {move.about: move for move in predict(read_change(JUBL, None, folder), "less").worse}
    names = found["names without their address in /etc/hosts"].pairs["nsd01"]
    assert {"cn02", "cn01 (it is 10.1.33.99, and should be 10.1.33.11)"} <= set(names)
    assert "10.1.33.12" in found["hosts whose key is not in /etc/ssh/ssh_known_hosts"].pairs["nsd02"]
    assert found["roots who may not log in by key"].pairs == {"nsd02": ["root@jump-cn02"]}
    assert found["folders no longer exported"].pairs == {
        "SN": [f"/srv/nfs4/bgl/gpfsvar/{address} for {address}" for address in sorted(io_nodes)]
    }


def test_hashed_known_hosts_are_known(tmp_path: Path) -> None:
    site = load_site(JUBL)
    text = render(site, Secrets(site))["nodes/nsd02/etc/ssh/ssh_known_hosts"].text
    lines = []
    for line in text.splitlines():
        names, rest = line.split(" ", 1)
        for name in names.split(","):
            salt = Random(name).randbytes(20)
            digest = hmac.new(salt, name.encode(), "sha1").digest()
            lines.append(f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()} {rest}")
    file = tmp_path / "mine/nsd02/etc/ssh/ssh_known_hosts"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(lines))
    assert predict(read_change(JUBL, None, tmp_path / "mine"), "x").moves == []
    file.write_text("\n".join(lines[1:]))
    (move,) = predict(read_change(JUBL, None, tmp_path / "mine"), "x").worse
    assert move.count == 1


def test_settings_that_have_another_value_are_told_once_for_all_their_nodes() -> None:
    (move,) = predicted("boat# sysctl -w net.ipv4.tcp_sack=0").moves
    assert (move.about, move.before, move.after) == ("net.ipv4.tcp_sack", "-", "0")
    assert list(move.pairs) == ["gull", "lark", "wren"]


# 300 nodes, the table, JSON


def test_a_change_of_a_site_of_300_nodes_is_predicted_within_ten_seconds(tmp_path: Path) -> None:
    (tmp_path / "jumbo.yaml").write_text("networks: {b: {mtu: 9000}}")
    begun = time.process_time()
    found = predict(read_change(JUBL, {"io": 288}, tmp_path / "jumbo.yaml"), "jumbo")
    assert time.process_time() - begun < 10
    assert found.exit_code == 0
    assert max(move.count for move in found.moves) > 80_000


def test_the_command_prints_tables_or_json_and_its_exit_code_is_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cut.txt"
    file.write_text("pier# ip route del default\npier# frobnicate\n")
    words = ["rehearse", "small", "--change", str(file), "--predict"]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert f"not predicted: {file}:2: pier# frobnicate: what frobnicate does" in out
    assert "regression: 2 worse, 0 better" in out
    assert main([*words, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["site"], data["verdict"]) == ("small", "regression")
    assert data["moves"][0]["pairs"]["pier"] == [
        "quay1:bond0", "quay2:bond0", "lark:eth0", "wren:eth0", "gull:eth0", "lock:eth0"
    ]  # fmt: skip
    assert {row["pattern"] for row in data["rates"]} >= {"6 streams from quay1 by bond0"}
    assert data["rates"][0]["before"].keys() == {"mean", "worst_tenth", "unit", "draws", "streams_by_member"}
    file.write_text("lark# ip route show\n")
    assert main(words) == 0
    assert "no regression: 0 worse" in capsys.readouterr().out
    file.write_text("nothing\n")
    assert main(words) == 2
    assert main(["rehearse", "small", "--change", str(tmp_path / "none"), "--predict"]) == 2


def test_a_site_patched_with_counts_has_them_too(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("sysctl: {net.ipv4.tcp_sack: 0}")
    change = read_change(JUBL, {"io": 12}, tmp_path / "x.yaml")
    assert len(change.before.nodes) == len(change.after.nodes) == 23


def test_an_example_names_the_two_ends() -> None:
    move = Move("reaches", "worse", "yes", "no: {a} has no route to {b}", {"x": ["y:eth0"], "z": ["y:eth0"]})
    assert (move.count, move.example) == (2, ("yes", "no: x has no route to y"))


def test_networks_are_numbers_to_routes() -> None:
    reach = Reach(SITE)
    assert reach.ways.leaves("lark", IPv4Address("10.30.0.11")).next_hop == IPv4Address("10.20.0.11")
    route = reach.ways.leaves("lark", IPv4Address("10.30.0.21")).route
    assert route is not None
    assert SITE.destination(route) == IPv4Network("10.30.0.0/24")
