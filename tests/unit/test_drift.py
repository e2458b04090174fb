"""What differs between what a node runs with and what its files say, from what the node prints."""

import json
from typing import Any

import pytest

from causeway.lab.probes.drift import Drift, differences

INTERFACES = """auto lo
iface lo inet loopback

auto eth0
iface eth0 inet static
    address 10.1.33.202/24
    mtu 9000
    up ip route add 10.1.0.0/16 via 10.1.33.1
    up ip route add 10.9.9.9/32 via 10.1.33.2
    up ip route add 10.8.0.0/24 nexthop via 10.1.33.4 nexthop via 10.1.33.3
    up ip route add 10.7.0.0/24 via 10.1.33.1 metric 5

auto bond0
iface bond0 inet static
    address 10.2.64.202
    netmask 255.255.252.0
    bond-slaves eth2 eth3
    bond-mode 802.3ad
    bond-xmit-hash-policy layer3+4
"""
ADDRESSES = {"eth0": ("10.1.33.202", 24, 9000), "bond0": ("10.2.64.202", 22, 1500)}
ROUTES: list[dict[str, Any]] = [
    {"dst": "10.1.33.0/24", "dev": "eth0", "protocol": "kernel", "scope": "link"},
    {"dst": "10.1.0.0/16", "gateway": "10.1.33.1", "dev": "eth0"},
    {"dst": "10.9.9.9", "gateway": "10.1.33.2", "dev": "eth0"},
    {"dst": "10.8.0.0/24", "nexthops": [{"gateway": "10.1.33.3"}, {"gateway": "10.1.33.4"}]},
    {"dst": "10.7.0.0/24", "gateway": "10.1.33.1", "metric": 5},
]
CHANNELS = "/sys/class/net/bond0 802.3ad 4 layer3+4 1 eth3 eth2"


def found(
    *,
    interfaces: str = INTERFACES,
    addresses: dict[str, tuple[str, int, int]] = ADDRESSES,
    routes: list[dict[str, Any]] = ROUTES,
    channels: str = CHANNELS,
    tunables: str = "# why\nnet.ipv4.ip_forward = 0\nnet.ipv4.tcp_rmem=1 2 3\nnet.core.rmem_max = 9\n",
    running: str = "net.ipv4.ip_forward = 0\nnet.ipv4.tcp_rmem = 1\t2\t3\n",
) -> list[Drift]:
    shown = [
        {"ifname": name, "mtu": mtu, "addr_info": [{"local": local, "prefixlen": bits, "scope": "global"}]}
        for name, (local, bits, mtu) in addresses.items()
    ]
    lo = {"ifname": "lo", "mtu": 65536, "addr_info": [{"local": "127.0.0.1", "prefixlen": 8, "scope": "host"}]}
    parts = {
        "addresses": json.dumps([lo, *shown]), "routes": json.dumps(routes), "interfaces": interfaces,
        "channels": channels, "tunables": tunables, "running": running,
    }  # fmt: skip
    return list(differences("nsd01", "".join(f"== {name}\n{text}\n" for name, text in parts.items())))


def test_a_node_that_runs_as_its_files_say_has_no_drift() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("what", "files", "runs", "other"),
    [
        ("route 10.1.0.0/16", "-", "via 10.1.33.1",
         {"interfaces": INTERFACES.replace("up ip route add 10.1", "# 10.1")}),
        ("route 10.9.9.9", "via 10.1.33.2", "-", {"routes": [r for r in ROUTES if r["dst"] != "10.9.9.9"]}),
        ("route 10.8.0.0/24", "via 10.1.33.3 via 10.1.33.4", "-", {"routes": ROUTES[:3] + ROUTES[4:]}),
        ("route 10.7.0.0/24 metric 5", "via 10.1.33.1", "via 10.1.33.9",
         {"routes": [*ROUTES[:4], ROUTES[4] | {"gateway": "10.1.33.9"}]}),
        ("route default", "-", "via 10.1.33.1", {"routes": [*ROUTES, {"dst": "default", "gateway": "10.1.33.1"}]}),
        ("eth0 mtu", "9000", "1500", {"addresses": ADDRESSES | {"eth0": ("10.1.33.202", 24, 1500)}}),
        ("bond0 address", "10.2.64.202/22", "10.2.64.203/22",
         {"addresses": ADDRESSES | {"bond0": ("10.2.64.203", 22, 1500)}}),
        ("eth1 address", "-", "10.1.44.202/24", {"addresses": ADDRESSES | {"eth1": ("10.1.44.202", 24, 1500)}}),
        ("bond0 members", "eth2 eth3", "eth2", {"channels": CHANNELS.replace("eth3 ", "")}),
        ("bond0 mode", "802.3ad", "balance-rr", {"channels": CHANNELS.replace("802.3ad 4", "balance-rr 0")}),
        ("bond0 hash policy", "layer3+4", "layer2", {"channels": CHANNELS.replace("layer3+4 1", "layer2 0")}),
        ("sysctl net.ipv4.ip_forward", "0", "1",
         {"running": "net.ipv4.ip_forward = 1\nnet.ipv4.tcp_rmem = 1 2 3\n"}),
    ],
)  # fmt: skip
def test_what_differs_is_named_with_both_sides(what: str, files: str, runs: str, other: dict[str, Any]) -> None:
    assert found(**other) == [Drift("nsd01", what, files, runs)]


def test_a_policy_that_no_file_names_is_the_kernels_own_business() -> None:
    silent = INTERFACES.replace("    bond-xmit-hash-policy layer3+4\n", "")
    assert found(interfaces=silent) == []
