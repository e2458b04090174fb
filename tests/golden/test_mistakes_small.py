"""Mistakes in what a site's file can say of pools, rates, routes, switches and clusters, put into the site `small`."""

import os
from pathlib import Path

import pytest

from causeway.errors import BadInput
from causeway.model.load import load_site
from tests.golden.mistakes import line_of, mistakes, replaced

SMALL = (Path(__file__).parents[2] / "topologies/small/site.yaml").read_text()
GIVE = "give a value of that form"
BOND = "bond0: {members: [eth1, eth2, eth3], switch: basin, hash_policy: layer3+4, switch_policy: balance-slb}"
LOCK = "      eth0: {network: sea, address: 10.20.0.1, names: [lock-sea]}\n"
BASIN = "  basin: {role: switch, switch: sea}\n"
LAST_LINK = "  - {ends: [lock:eth0, basin:lock], rate_mbit: 500}\n"
FS = "filesystems:\n  scratch: {owner: Harbour, servers: [quay], size_mib: 64, mount_point: /scratch}\n\nsysctl:"

#: name -> (replacements, [(text on the line of the mistake, what is said of it)])
MISTAKES: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]] = {
    "a policy that nobody can compute": (
        [("hash_policy: layer3+4", "hash_policy: encap3+4")],
        [
            (
                "      bond0: {members",
                "pools.quay.channels.bond0.hash_policy: nobody can compute which member 'encap3+4' takes; "
                "use one of layer2, layer2+3, layer3+4, vlan+srcmac, default, src_dst_port, src_port, dst_port",
            )
        ],
    ),
    "a pool's policies of the wrong kind": (
        [(BOND, BOND.replace("layer3+4", "balance-tcp").replace("slb", "rr"))],
        [
            (
                "      bond0: {members",
                "pools.quay.channels.bond0.hash_policy: 'balance-tcp' is no hash policy of a host; "
                "use one of layer2, layer2+3, layer3+4, vlan+srcmac, default, src_dst_port, src_port, dst_port",
            ),
            (
                "      bond0: {members",
                "pools.quay.channels.bond0.switch_policy: 'balance-rr' is no hash policy of a switch; "
                "use one of balance-tcp, balance-slb, mac source, mac destination, mac both, ip source, "
                "ip destination, ip both, session source, session destination, session both",
            ),
        ],
    ),
    "static ends of Open vSwitch": (
        [(BOND, BOND.replace("balance-slb}", "balance-slb, protocol: static}"))],
        [
            (
                "      bond0: {members",
                "pools.quay.channels.bond0.switch_policy: without LACP a switch that sends by balance-slb takes "
                "broadcasts by one member alone; use one of mac source, mac destination, mac both, ip source, "
                "ip destination, ip both, session source, session destination, session both",
            )
        ],
    ),
    "a protocol that there is not": (
        [(BOND, BOND.replace("balance-slb}", "balance-slb, protocol: pagp}"))],
        [
            (
                "      bond0: {members",
                "pools.quay.channels.bond0.protocol: input should be 'lacp' or 'static' (it is 'pagp'); " + GIVE,
            )
        ],
    ),
    "a bound of nodes with several cables, and one that is no rate": (
        [
            ('    names: "quay{}"\n', '    names: "quay{}"\n    receive_mbit: 800\n'),
            ("    names: [lark, wren, gull]\n", "    names: [lark, wren, gull]\n    send_mbit: 79.5\n"),
        ],
        [
            (
                "    receive_mbit: 800",
                "pools.quay.receive_mbit: quay1 has 4 cables, and nothing in a lab bounds what it has of all of them "
                "together; give its cables a `rate_mbit` instead",
            ),
            (
                "    send_mbit: 79.5",
                f"pools.boat.send_mbit: input should be a valid integer (it is 79.5); {GIVE}",
            ),
        ],
    ),
    "disks that are none, each said at once": (
        [
            (
                "sysctl:",
                FS.replace(
                    "size_mib: 64,", "layout: whole, size_mib: 64, disk: {read_mb: 0, writes_mb: 80, read_us: -1},"
                ),
            )
        ],
        [
            (
                "  scratch:",
                f"filesystems.scratch.disk.read_mb: input should be greater than or equal to 1 (it is 0); {GIVE}",
            ),
            (
                "  scratch:",
                f"filesystems.scratch.disk.read_us: input should be greater than or equal to 0 (it is -1); {GIVE}",
            ),
            ("  scratch:", "filesystems.scratch.disk.writes_mb: unknown key; did you mean write_mb?"),
        ],
    ),
    "a pool's channel with one member": (
        [("members: [eth1, eth2, eth3]", "members: [eth1]")],
        [
            (
                "      bond0: {members",
                "pools.quay.channels.bond0.members: a channel of 1 member; give it two or more, or make it a link",
            )
        ],
    ),
    "a pool's member that has an address, and its two cables": (
        [("members: [eth1, eth2, eth3]", "members: [eth1, eth0]")],
        [
            (
                '      eth0: {network: land, names: ["{}-land',
                "pools.quay.interfaces.eth0.switch: quay1:eth0 is in network sea, lock:quay1 in land; "
                "join two ports of one network",
            ),
            (
                "      bond0: {members",
                "pools.quay.channels.bond0.members[1]: quay1:eth0 has an address of its own; "
                "give it to the bond; a member has none",
            ),
            (
                "      bond0: {members",
                "pools.quay.channels.bond0: quay1:eth0 carries 2 cables; use each port once",
            ),
        ],
    ),
    "a pool's channel without an interface": (
        [('      bond0: {network: sea, names: ["{}-sea"]}\n', "")],
        [
            (
                "      bond0: {members",
                "pools.quay.channels.bond0: there is no interface 'bond0'; give the channel an address there",
            ),
            (
                "via: 10.20.0.11}",
                "pools.boat.routes[1].via: nobody has the gateway's address 10.20.0.11; "
                "use the address of a node's interface",
            ),
            (
                "via: 10.20.0.12}",
                "pools.boat.routes[2].via: nobody has the gateway's address 10.20.0.12; "
                "use the address of a node's interface",
            ),
        ],
    ),
    "a pool at no switch, at one of another network, and at nobody": (
        [
            ("switch: basin, hash_policy", "switch: pier, hash_policy"),
            ('names: ["{}"], switch: basin', 'names: ["{}"], switch: lock'),
            ('"{}"], switch: lock}\n      bond0', '"{}"], switch: look}\n      bond0'),
        ],
        [
            (
                '"{}"], switch: look',
                "pools.quay.interfaces.eth0.switch: there is no node 'look'; did you mean lock?",
            ),
            (
                "      bond0: {members",
                "pools.quay.channels.bond0.switch: pier is no switch; "
                "name one that is, or write the cable under `links`",
            ),
            (
                'names: ["{}"], switch: lock',
                "pools.boat.interfaces.eth0.switch: lark:eth0 is in network sea, lock:lark in land; "
                "join two ports of one network",
            ),
        ],
    ),
    "a pool's network and cluster that are not there": (
        [("bond0: {network: sea,", "bond0: {network: see,"), ("cluster: Fleet", "cluster: Flet")],
        [
            (
                "bond0: {network: see",
                "pools.quay.interfaces.bond0.network: there is no network 'see'; did you mean sea?",
            ),
            ("cluster: Flet", "pools.boat.cluster: there is no cluster 'Flet'; did you mean Fleet?"),
        ],
    ),
    "more nodes than there is room for": (
        [("count: 2", "count: 5")],
        [("count: 5", "pools.quay.count: 5 nodes, and room for 4; use 1 to 4")],
    ),
    "more nodes than names": (
        [("    hosts: 31\n", "    hosts: 31\n    count: 4\n")],
        [("count: 4", "pools.boat.count: 4 nodes, and names for 3; use 1 to 3")],
    ),
    "a pattern without a count": (
        [("    count: 2\n", "")],
        [
            (
                "  quay:",
                "pools.quay: a pattern for names, and no number of nodes; add `count`, or list the names",
            )
        ],
    ),
    "a pattern that is more than a number": (
        [('names: "quay{}"', 'names: "quay{0.__class__}"')],
        [('names: "quay{0', f"PATTERN; {GIVE}")],
    ),
    "host numbers for other nodes": (
        [("hosts: 31", "hosts: [31, 32]")],
        [
            (
                "hosts: [31, 32]",
                "pools.boat.hosts: 2 host numbers for 3 nodes; give each node one, or only the first one's",
            )
        ],
    ),
    "host numbers that others have, and outside of the network": (
        [("hosts: 31", "hosts: [1, 300, 33]")],
        [
            (
                "address: 10.20.0.1,",
                "nodes.lock.interfaces.eth0.address: 10.20.0.1 is lark:eth0's address too; "
                "give each interface an address of its own",
            ),
            (
                "hosts: [1, 300, 33]",
                "pools.boat.hosts[1]: 10.20.1.44 is outside of network sea, 10.20.0.0/24; "
                "use an address from 10.20.0.1 to 10.20.0.254",
            ),
        ],
    ),
    "a pool's node called as another, also one that is not there now": (
        [("[lark, wren, gull]", "[lark, wren, quay4]")],
        [
            (
                "  boat:",
                "pools.boat: quay4 is a node of pool quay, too; give each node a name of its own",
            ),
        ],
    ),
    "a name too long for a switch's port": (
        [("[lark, wren, gull]", "[lark, wren, gull-of-the-north-sea]")],
        [
            (
                "gull-of",
                "pools.boat.names: a switch's port cannot be called gull-of-the-north-sea: "
                "a port's name has at most 15 characters; use shorter names, or list the nodes under `nodes`",
            )
        ],
    ),
    "the same name twice in a pool": (
        [("[lark, wren, gull]", "[lark, wren, lark]")],
        [("lark, wren, lark", "pools.boat.names: lark stands there twice; name each node once")],
    ),
    "a host's MTU above its switch's": (
        [("names: [pier]}", "names: [pier], mtu: 9000}")],
        [
            (
                "[pier:eth0, lock:pier]",
                "links[0]: MTU 9000 at pier:eth0 and 1500 at lock:pier; set one MTU, on network land for all its links",
            )
        ],
    ),
    "three rates": (
        [("rate_mbit: 500", "rate_mbit: [500, 400, 300]")],
        [
            (
                "rate_mbit: [500",
                "links[1].rate_mbit: list should have at most 2 items after validation, not 3 "
                f"(it is [500, 400, 300]); {GIVE}",
            )
        ],
    ),
    "lengths that no cable has": (
        [
            ("rate_mbit: 500", "rate_mbit: 500, delay_ms: -1"),
            ("rate_mbit: 1000, mtu: 1500", "rate_mbit: 1000, delay_ms: 3ms, mtu: 1500"),
        ],
        [
            (
                "delay_ms: 3ms",
                f"networks.sea.delay_ms: input should be a valid number (it is '3ms'); {GIVE}",
            ),
            (
                "delay_ms: -1",
                f"links[1].delay_ms: input should be greater than or equal to 0 (it is -1); {GIVE}",
            ),
        ],
    ),
    "a rate of nothing, one way": (
        [("rate_mbit: 500", "rate_mbit: [500, 0]")],
        [
            (
                "rate_mbit: [500",
                f"links[1].rate_mbit[1]: input should be greater than or equal to 1 (it is 0); {GIVE}",
            )
        ],
    ),
    "two routes to one place": (
        [
            (
                "      - {to: default, via: 10.30.0.1}\n",
                "      - {to: sea, via: 10.30.0.1}\n      - {to: 10.20.0.0/24, via: 10.30.0.1}\n",
            )
        ],
        [
            (
                "{to: 10.20.0.0/24",
                "nodes.pier.routes[1]: routes[0] leads to 10.20.0.0/24 already, with the same metric; "
                "give them metrics, or one route several gateways",
            )
        ],
    ),
    "a route to the own network": (
        [("{to: default, via: 10.30.0.1}", "{to: land, via: 10.30.0.1}")],
        [
            (
                "{to: land, via: 10.30.0.1}",
                "nodes.pier.routes[0].to: 10.30.0.0/24 is a network of the node's own; "
                "give the route a metric, or remove it",
            )
        ],
    ),
    "one of several gateways that nobody is": (
        [("{to: default, via: 10.30.0.1}", "{to: default, via: [10.30.0.1, 10.30.0.2]}")],
        [
            (
                "to: default",
                "nodes.pier.routes[0].via: nobody has the gateway's address 10.30.0.2; "
                "use the address of a node's interface",
            )
        ],
    ),
    "a gateway twice, and a source that is another's": (
        [("{to: default, via: 10.30.0.1}", "{to: default, via: [10.30.0.1, 10.30.0.1], src: 10.30.0.1}")],
        [
            ("to: default", "nodes.pier.routes[0].src: 10.30.0.1 is no address of the node's; use one of its own"),
            ("to: default", "nodes.pier.routes[0].via: 10.30.0.1 stands there twice; name each gateway once"),
        ],
    ),
    "a prefix with host bits": (
        [("{to: default,", "{to: 10.20.0.1/24,")],
        [
            (
                "to: 10.20.0.1/24",
                "nodes.pier.routes[0].to: there is no network '10.20.0.1/24'; use one of land, sea",
            )
        ],
    ),
    "two cables between two switches": (
        [
            (BASIN, BASIN + "  slip: {role: switch, switch: sea}\n"),
            (LAST_LINK, LAST_LINK + "  - {ends: [basin:a, slip:a]}\n  - {ends: [slip:b, basin:b]}\n"),
        ],
        [
            (
                "[slip:b, basin:b]",
                "links[3]: slip and basin are joined already: a broadcast would go round in network sea for ever; "
                "take one way out, or make several cables one channel",
            )
        ],
    ),
    "a ring of three switches": (
        [
            (BASIN, BASIN + "  slip: {role: switch, switch: sea}\n  dock: {role: switch, switch: sea}\n"),
            (
                LAST_LINK,
                LAST_LINK
                + "".join(
                    f"  - {{ends: [{a}, {b}]}}\n"
                    for a, b in (("basin:a", "slip:a"), ("slip:b", "dock:b"), ("dock:c", "basin:c"))
                ),
            ),
        ],
        [
            (
                "[dock:c, basin:c]",
                "links[4]: dock and basin are joined already: a broadcast would go round in network sea for ever; "
                "take one way out, or make several cables one channel",
            )
        ],
    ),
    "a switch plugged into itself": (
        [(LAST_LINK, LAST_LINK + "  - {ends: [basin:a, basin:b]}\n")],
        [
            (
                "[basin:a, basin:b]",
                "links[2]: basin and basin are joined already: a broadcast would go round in network sea for ever; "
                "take one way out, or make several cables one channel",
            )
        ],
    ),
    "a way of forwarding that there is not": (
        [(BASIN, BASIN.replace("sea}", "sea, forwarding: magic}"))],
        [
            (
                "forwarding: magic",
                f"nodes.basin.forwarding: input should be 'learning' or 'static' (it is 'magic'); {GIVE}",
            )
        ],
    ),
    "known by a network that one has no leg in": (
        [("known_by: land, dns", "known_by: sea, dns")],
        [
            (
                "  Harbour:",
                "clusters.Harbour.known_by: pier has no interface in sea; "
                "use a network in which all nodes of the cluster have one",
            )
        ],
    ),
    "an administrator of another cluster, and a network that is not there": (
        [("administrator: quay1, known_by: land", "administrator: lark, known_by: lad")],
        [
            ("  Harbour:", "clusters.Harbour.administrator: lark is not in Harbour; use one of quay1, quay2, pier"),
            ("  Harbour:", "clusters.Harbour.known_by: there is no network 'lad'; did you mean land?"),
        ],
    ),
    "a filesystem that is not there": (
        [("ntp: lark}", "ntp: lark, mounts: [scratch]}")],
        [("  Fleet:", "clusters.Fleet.mounts[0]: there is no filesystem 'scratch'; use one of (none)")],
    ),
    "a cluster that expels and shares nothing": (
        [("ntp: lark}", "ntp: lark, failure_detection_s: 35}")],
        [
            (
                "  Fleet:",
                "clusters.Fleet.failure_detection_s: Fleet owns no filesystem and mounts none, so that its nodes have "
                "nothing to lose; remove it, or add `mounts`",
            )
        ],
    ),
    "too few servers for the parity": (
        [("sysctl:", FS)],
        [
            (
                "  scratch:",
                "filesystems.scratch.servers: 2 servers for parity 1: there must be more than twice as many; "
                "name 3 or more, or use less parity",
            )
        ],
    ),
    "a stripe without parity": (
        [("sysctl:", FS.replace("size_mib", "parity: 0, size_mib"))],
        [("  scratch:", "filesystems.scratch.parity: stripes without parity; use 1 or more, or layout whole")],
    ),
    "whole files with parity": (
        [("sysctl:", FS.replace("size_mib", "layout: whole, parity: 1, size_mib"))],
        [
            (
                "  scratch:",
                "filesystems.scratch.parity: parity 1 of files that are each whole on one server; "
                "use 0, or layout stripe",
            )
        ],
    ),
    "another cluster's pool for servers": (
        [("sysctl:", FS.replace("[quay]", "[boat]"))],
        [
            (
                "  scratch:",
                "filesystems.scratch.servers[0]: boat is no node of Harbour that has disks; "
                "use one of pier, quay, quay1, quay2",
            )
        ],
    ),
    "a driver that there is not": (
        [("sysctl:", FS.replace("{owner", "{driver: glusters, layout: whole, owner"))],
        [("  scratch:", f"filesystems.scratch.driver: input should be 'gluster' (it is 'glusters'); {GIVE}")],
    ),
    "one cluster's own setting of the one kernel": (
        [("ntp: lark}", "ntp: lark, sysctl: {net.core.rmem_max: 1, net.ipv4.tcp_sack: 0}}")],
        [
            (
                "  Fleet:",
                "clusters.Fleet.sysctl.net.core.rmem_max: net.core.rmem_max is one setting of the lab's kernel, "
                "for all nodes; move it to the site's own `sysctl`",
            )
        ],
    ),
    "a tunable that is a path": (
        [("  net.core.rmem_max:", "  /etc/passwd:")],
        [("/etc/passwd", f"SYSCTL; {GIVE}")],
    ),
    "a pool without what it must have, which nobody then misses": (
        [("    role: client\n", "")],
        [("  boat:", "pools.boat: `role` is missing; add it")],
    ),
    "a pool of bad form, whose addresses and nodes nobody then misses": (
        [("hosts: 11", "hosts: eleven")],
        [
            (
                "hosts: eleven",
                f"pools.quay.hosts: input should be a valid list (it is 'eleven'); {GIVE}",
            )
        ],
    ),
}
#: What the file's own form says of a value is long.
FORMS = {
    "PATTERN": r"pools.quay.names: input should be a valid list (it is 'quay{0.__class__}')",
    "SYSCTL": r"sysctl./etc/passwd: string should match pattern '^net(\.[A-Za-z0-9_-]+)+$' "
    "(it is '/etc/passwd')",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_one_mistake_gives_its_lines_and_no_other(name: str, tmp_path: Path) -> None:
    replacements, expected = MISTAKES[name]
    text = replaced(SMALL, *replacements)
    lines = []
    for piece, said in expected:
        for word, form in FORMS.items():
            said = said.replace(word, form)
        lines.append(f"{line_of(text, piece)}: {said}")
    assert mistakes(text, tmp_path) == lines


def test_pools_and_nodes_are_not_called_as_each_other(tmp_path: Path) -> None:
    text = replaced(SMALL, ("  boat:\n", "  pier:\n"))
    assert ": pools.pier: a node is called pier, too; give the pool another name" in mistakes(text, tmp_path)[0]
    text = replaced(SMALL, ("  pier:\n", "  gull:\n"), ("[pier:eth0,", "[gull:eth0,"))
    assert ": nodes.gull: this is the name of a node of pool boat; give it another name" in mistakes(text, tmp_path)[0]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("sysctl:\n", f"sysctl:\n  {key}: {value}\n", "sysctl")
        for key, value in {
            "kernel.core_pattern": "'|/bin/sh'",
            "vm.overcommit_memory": 2,
            ".etc.crontab": "x",
            "/causeway/bin/causeway": "x",
            "net/../../etc/crontab": "x",
            "net...etc.crontab": "x",
            "net.ipv4.tcp_sack": '"1\\nEOF\\ntouch /tmp/x"',
        }.items()
    ]
    + [
        ("domain: small.example", f"domain: {name}", "domain")
        for name in ("-x.y", "a..b", "../x.y", f"{'a' * 64}.b", ".".join("a" * 80), '"a.b\\nc.d"')
    ],
)
def test_what_would_reach_beyond_the_lab_is_bad_input(old: str, new: str, place: str, tmp_path: Path) -> None:
    (said,) = mistakes(replaced(SMALL, (old, new)), tmp_path)
    assert said.split(": ")[1].startswith(place), said


@pytest.mark.parametrize("name", ["a FIFO", "/dev/zero"])
def test_what_is_no_file_is_not_read(name: str, tmp_path: Path) -> None:
    file = tmp_path / name if name == "a FIFO" else Path(name)
    if name == "a FIFO":
        os.mkfifo(file)
    with pytest.raises(BadInput, match="this is no file; name a topology file or a shipped lab"):
        load_site(file)


@pytest.mark.parametrize("name", ["'b;id>&2;#'", "a/b", "'..'", "'a b'", f"a{'b' * 40}", "'$(id)'", '"a\\nb"'])
@pytest.mark.parametrize("of", ["networks", "clusters"])
def test_what_a_shell_or_a_path_would_read_in_a_name_is_bad_input(of: str, name: str, tmp_path: Path) -> None:
    value = "{subnet: 10.99.0.0/24}" if of == "networks" else "{}"
    said = mistakes(replaced(SMALL, (f"{of}:\n", f"{of}:\n  {name}: {value}\n")), tmp_path)
    form = [line for line in said if line.split(": ")[1].startswith(of) and "string should match pattern" in line]
    assert form, said


def test_a_mistake_is_one_line_and_nothing_that_a_terminal_obeys(tmp_path: Path) -> None:
    (said,) = mistakes(replaced(SMALL, ("networks:\n", 'networks:\n  "a\\n\\e[2Jb": {}\n')), tmp_path)[:1]
    assert "networks.a\\n\\x1b[2Jb: " in said
