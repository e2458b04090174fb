"""The lab jubl in paced time, seen as an engineer of the site would see it."""

import json
import re

import pytest
from conftest import Tool

IO_NODES = [f"R00-M0-N{card}-{port}" for card in "CDEF" for port in (3, 4)]
SERVERS = {f"nsd0{i}": octet for i, octet in enumerate((202, 203, 205, 206), 1)}


def test_status_says_that_every_node_link_and_channel_is_up(lab: Tool) -> None:
    status = lab.json("status", "--json")
    assert (status["lab"], status["lab_host"], status["clock"]) == ("jubl", "uml", "paced")
    assert [n["name"] for n in status["nodes"] if n["role"] == "ion"] == IO_NODES
    assert {n["state"] for n in status["nodes"]} == {"up"}
    assert all(link["up"] for link in status["links"]) and len(status["links"]) == 41
    assert len(status["channels"]) == 12
    for end in status["channels"]:
        assert end["negotiated"] and all(m["up"] for m in end["members"]), end
    policies = {end["node"]: end["hash_policy"] for end in status["channels"] if end["node"] != "zam870"}
    assert policies == dict.fromkeys(SERVERS, "layer3+4") | {"SN": "layer2", "FEN": "layer2"}


def test_exec_gives_each_nodes_output_and_exit_code(lab: Tool) -> None:
    rows = lab("exec", "--json", "SN", "FEN", "--", "sh", "-c", "hostname; exit 3")
    assert rows.returncode == 3
    assert '"rc": 3' in rows.stdout and '"stdout": "FEN\\n"' in rows.stdout


def test_adapters_and_channels_say_their_links_rate(lab: Tool) -> None:
    for device, rate in (("eth0", 16000), ("eth2", 1000), ("bond0", 4000)):
        assert f"Speed: {rate}Mb/s\n\tDuplex: Full\n" in lab.on("nsd01", "ethtool", device)
    assert lab.on("nsd01", "cat", "/proc/net/bonding/bond0").count("Speed: 1000 Mbps\nDuplex: full\n") == 4
    assert lab.on("R00-M0-NC-3", "cat", "/sys/class/net/eth0/speed") == "1000\n"


@pytest.mark.parametrize("node", ["SN", "FEN", "R00-M0-NC-3"])
def test_client_nodes_have_the_network_route_and_the_four_host_routes(lab: Tool, node: str) -> None:
    routes = lab.on(node, "ip", "route").splitlines()
    device = "eth0" if node.startswith("R") else "bond0"
    assert f"10.1.33.0/24 via 10.2.64.1 dev {device} " in routes
    for octet in SERVERS.values():
        assert f"10.1.33.{octet} via 10.2.64.{octet} dev {device} " in routes


def test_nothing_was_needed_on_the_servers_and_compute_nodes_go_through_deisa(lab: Tool) -> None:
    assert "via" not in lab.on("nsd01", "ip", "route")
    assert "10.2.64.0/22 via 10.1.44.1 dev eth1" in lab.on("cn01", "ip", "route")


def test_every_node_of_each_cluster_reaches_every_node_of_the_other(lab: Tool) -> None:
    """As the filesystem's daemons do: a compute node speaks from its f address. (From its m address it
    gets no answer, for the client cluster has no route to m; the Redpaper gives it none.)"""
    jump = {name: f"{name}f" for name in (*SERVERS, "cn01", "cn02")}
    jubl = {"SN": "SN-b", "FEN": "FEN-b"} | {name: name for name in IO_NODES}
    ping = "from=$1; shift; for h in $*; do ping -q -c 1 -W 2 $from $h >/dev/null || echo $h; done"
    for nodes, targets in ((jubl, jump), (jump, jubl)):
        for node in nodes:
            own = f"-I{lab.on(node, 'host', '-t', 'a', nodes[node]).split()[-1]}" if node.startswith("cn") else "-n"
            assert lab.on(node, "sh", "-c", ping, "sh", own, *targets.values()) == "", node


def test_data_for_a_server_goes_over_its_channel_and_for_a_compute_node_through_deisa(lab: Tool) -> None:
    assert " nsd01" in lab.on("R00-M0-NC-3", "traceroute", "nsd01f")
    assert "deisa-b" in lab.on("R00-M0-NC-3", "traceroute", "cn01f").splitlines()[1]


@pytest.mark.parametrize("node", ["nsd01", "SN", "R00-M0-NF-4"])
def test_host_finds_every_name_forward_and_reverse(lab: Tool, node: str) -> None:
    names = {"nsd03b": "10.2.64.205", "cn02f": "10.1.33.12", "R00-M0-NF-4": "10.2.64.64", "deisa-b": "10.2.64.1"}
    for name, address in names.items():
        assert f"has address {address}" in lab.on(node, "host", "-t", "a", name)
        assert f"pointer {name}.site.example." in lab.on(node, "host", address)


def test_root_on_sn_reaches_its_cluster_by_address_short_and_long_name_without_a_prompt(lab: Tool) -> None:
    ssh = "for h in $*; do ssh -o BatchMode=yes $h hostname || echo FAILED $h; done"
    spellings = ["FEN", "FEN-b", "FEN-b.site.example", "10.2.64.221", "r00-m0-nc-4"]
    spellings += ["R00-M0-ND-3", "R00-M0-ND-3.site.example", "10.2.64.59"]
    assert lab.on("SN", "sh", "-c", ssh, "sh", *spellings).split() == (
        ["FEN"] * 4 + ["R00-M0-NC-4"] + ["R00-M0-ND-3"] * 3
    )
    assert lab.on("R00-M0-NC-3", "sh", "-c", ssh, "sh", "SN", "R00-M0-NC-4").split() == ["SN", "R00-M0-NC-4"]


def test_ssh_between_the_clusters_is_not_set_up(lab: Tool) -> None:
    done = lab("exec", "--json", "SN", "--", "ssh", "-o", "BatchMode=yes", "nsd01b")
    (row,) = json.loads(done.stdout)
    assert row["rc"] == 255 and "Host key verification failed" in row["stderr"]


def test_io_nodes_take_their_time_from_sn(lab: Tool) -> None:
    assert re.search(r"^\^\* SN-b", lab.on("R00-M0-NC-3", "chronyc", "sources"), re.MULTILINE)


def test_the_tcp_tunables_are_the_redpapers(lab: Tool) -> None:
    values = lab.on("R00-M0-NC-3", "sysctl", "-n", "net.core.rmem_max", "net.ipv4.tcp_wmem")
    assert values.split() == ["8388608", "4096", "262144", "8388608"]


def test_bonding_shows_what_it_shows_at_home(lab: Tool) -> None:
    text = lab.on("nsd01", "cat", "/proc/net/bonding/bond0")
    assert "IEEE 802.3ad Dynamic link aggregation" in text
    assert "Transmit Hash Policy: layer3+4 (1)" in text
    assert text.count("Slave Interface:") == 4 and "Number of ports: 4" in text


def test_one_stream_carries_the_wires_own_rate_in_paced_time(lab: Tool) -> None:
    assert abs(stream_mbit(lab) / 941.482 - 1) < 0.001


@pytest.mark.parametrize(("direction", "mbit"), [("-t", 846), ("-r", 795)])
def test_an_io_node_takes_and_gives_what_its_cpu_let_it_at_home(lab: Tool, direction: str, mbit: int) -> None:
    """Redpaper, "Single-stream performance between an NSD server and an ION"; its start scripts serve there."""
    assert abs(nuttcp_mbit(lab, direction, "R00-M0-NC-3") / mbit - 1) < 0.001


def stream_mbit(tool: Tool) -> float:
    """The rate of nuttcp's stream from nsd01 to FEN as a trainee would type it."""
    tool.on("FEN", "nuttcp", "-S")
    rate = nuttcp_mbit(tool, "-t", "FEN-b")
    tool.on("FEN", "pkill", "-x", "nuttcp")
    return rate


def nuttcp_mbit(tool: Tool, direction: str, to: str) -> float:
    """The rate of a stream between nsd01 and who serves, without its first second."""
    lines = tool.on("nsd01", "nuttcp", direction, "-w1m", "-i1", "-T6", to).splitlines()
    rates = [float(line.split("=")[1].split()[0]) for line in lines[1:5]]
    return sum(rates) / len(rates)
