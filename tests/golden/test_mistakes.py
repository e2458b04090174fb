"""What is said of each mistake in a topology file: the whole list, word by word, with the file's line."""

from pathlib import Path

import pytest

from causeway.cli.app import main
from causeway.errors import BadInput
from causeway.model.load import load_site
from tests.golden.mistakes import line_of, mistakes, replaced

REPO = Path(__file__).parents[2]
JUBL = (REPO / "tests/golden/by_hand.yaml").read_text()
TEN = "tests/golden/ten_mistakes.yaml"
EXPECTED = (REPO / "tests/golden/ten_mistakes.expected").read_text()

NSD01_B = "bond0: {network: b, address: 10.2.64.202, names: [nsd01b]}"
NSD01_END = "{node: nsd01, name: bond0, members: [eth2, eth3, eth4, eth5], hash_policy: layer3+4}"
NSD01_PORTS = "{node: zam870, name: nsd01, members: [nsd01-1, nsd01-2, nsd01-3, nsd01-4]"
FROM_TO_F = "use an address from 10.1.33.1 to 10.1.33.254"
GIVE = "give a value of that form"
POOLS = JUBL[JUBL.index("pools:\n") : JUBL.index("\nlinks:")]
WORK = "work: {owner: JUMP, servers: [nsd01, nsd02, nsd03, nsd04]"
SERVERS = "use one of cn01, cn02, nsd01, nsd02, nsd03, nsd04"
MOUNT_POINT = "^(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$"
BOOT = "    boot: {server: SN, nfs_threads: 8, lease_s: 3600, var_mib: 8}\n"


def changed(*replacements: tuple[str, str]) -> str:
    """by_hand.yaml with some of its text replaced, each where it stands first."""
    return replaced(JUBL, *replacements)


def test_ten_mistakes_give_exactly_ten_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPO)
    with pytest.raises(BadInput) as caught:
        load_site(Path(TEN))
    assert f"{caught.value}\n" == EXPECTED
    assert len(caught.value.problems) == 10


def test_render_prints_the_ten_mistakes_on_standard_error_and_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(REPO)
    assert main(["render", TEN, "--to", str(tmp_path / "out")]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err == EXPECTED + "10 mistakes; nothing was started\n"
    assert list(tmp_path.iterdir()) == []


#: name -> (replacements in by_hand.yaml, [(text on the line of the mistake, what is said of it)])
ONE_MISTAKE: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]] = {
    "duplicate address": (
        [("address: 10.1.33.203", "address: 10.1.33.202")],
        [
            (
                "names: [nsd02f, nsd02]",
                "nodes.nsd02.interfaces.eth0.address: 10.1.33.202 is nsd01:eth0's address too; "
                "give each interface an address of its own",
            )
        ],
    ),
    "network's own address": (
        [("address: 10.1.33.203", "address: 10.1.33.0")],
        [
            (
                "names: [nsd02f, nsd02]",
                "nodes.nsd02.interfaces.eth0.address: 10.1.33.0 is the network or broadcast address of "
                f"10.1.33.0/24; {FROM_TO_F}",
            )
        ],
    ),
    "address outside of its network": (
        [("address: 10.1.33.203", "address: 10.1.34.203")],
        [
            (
                "names: [nsd02f, nsd02]",
                f"nodes.nsd02.interfaces.eth0.address: 10.1.34.203 is outside of network f, 10.1.33.0/24; {FROM_TO_F}",
            )
        ],
    ),
    "overlapping networks": (
        [("subnet: 10.1.33.0/24", "subnet: 10.1.32.0/19")],
        [
            (
                "m: {subnet",
                "networks.m.subnet: 10.1.44.0/24 overlaps network f, 10.1.32.0/19; "
                "give each network addresses of its own",
            )
        ],
    ),
    "network of one address": (
        [("subnet: 10.1.33.0/24", "subnet: 10.1.33.0/32")],
        [("f: {subnet", "networks.f.subnet: a network of prefix /32; use one from /16 to /30")],
    ),
    "network with host bits": (
        [("subnet: 10.1.33.0/24", "subnet: 10.1.33.1/24")],
        [
            (
                "f: {subnet",
                f"networks.f.subnet: input is not a valid IPv4 network (it is '10.1.33.1/24'); {GIVE}",
            )
        ],
    ),
    "duplicate host name, whatever its case": (
        [("names: [nsd02f, nsd02]", "names: [nsd02f, NSD01]")],
        [
            (
                "names: [nsd02f, NSD01]",
                "nodes.nsd02.interfaces.eth0.names[1]: NSD01 is a name of nsd01:eth0 too; "
                "give each interface names of its own",
            )
        ],
    ),
    "host name of an I/O node": (
        [("names: [nsd02f, nsd02]", "names: [R01-M0-N0-3, nsd02]")],
        [
            (
                "names: [R01-M0-N0-3",
                "nodes.nsd02.interfaces.eth0.names[0]: R01-M0-N0-3 is a name of a node of pool io too; "
                "give each interface names of its own",
            )
        ],
    ),
    "node called as an I/O node": (
        [
            ("  cn01:\n", "  R00-M0-N0-3:\n"),
            ("[cn01:eth0,", "[R00-M0-N0-3:eth0,"),
            ("[cn01:eth1,", "[R00-M0-N0-3:eth1,"),
        ],
        [
            (
                "  R00-M0-N0-3:",
                "nodes.R00-M0-N0-3: this is the name of a node of pool io; give it another name",
            )
        ],
    ),
    "member used twice in one channel": (
        [(NSD01_END, NSD01_END.replace("eth5", "eth2"))],
        [
            (
                "[eth2, eth3, eth4, eth2]",
                "channels[0].ends[0].members[3]: eth2 is a member of nsd01:bond0 already; "
                "use each port in one channel, once",
            )
        ],
    ),
    "member used twice in two channels": (
        [("[FEN-1, FEN-2]", "[FEN-1, SN-2]")],
        [
            (
                "[FEN-1, SN-2]",
                "channels[5].ends[1].members[1]: SN-2 is a member of zam870:SN already; "
                "use each port in one channel, once",
            )
        ],
    ),
    "member that has an address": (
        [
            ("eth0: {network: f, address: 10.1.33.202", "eth2: {network: f, address: 10.1.33.202"),
            ("[nsd01:eth0,", "[nsd01:eth2,"),
        ],
        [
            (
                "[nsd01:eth2,",
                "links[0]: nsd01:eth2 is in network b, federation:nsd01 in f; join two ports of one network",
            ),
            (
                "[nsd01:eth2,",
                "links[0].ends[0]: nsd01:eth2 carries 2 cables; use each port once",
            ),
            (
                "node: nsd01, name: bond0",
                "channels[0].ends[0].members[0]: nsd01:eth2 has an address of its own; "
                "give it to the bond; a member has none",
            ),
        ],
    ),
    "channel with one member": (
        [("members: [eth6, eth7]", "members: [eth6]"), ("[SN-1, SN-2]", "[SN-1]")],
        [
            (
                "node: SN,",
                "channels[4].ends[0].members: a channel of 1 member; give it two or more, or make it a link",
            )
        ],
    ),
    "different numbers of members": (
        [(", nsd01-4]", "]")],
        [
            (
                "[nsd01-1, nsd01-2, nsd01-3]",
                "channels[0].ends[1].members: 4 members on one end and 3 on the other; name as many ports on both ends",
            )
        ],
    ),
    "Linux policy at a switch": (
        [(f"{NSD01_PORTS}, hash_policy: balance-slb", f"{NSD01_PORTS}, hash_policy: layer2")],
        [
            (
                "name: nsd01, members",
                "channels[0].ends[1].hash_policy: 'layer2' is no hash policy of a switch; "
                "use one of balance-tcp, balance-slb, mac source, mac destination, mac both, ip source, "
                "ip destination, ip both, session source, session destination, session both",
            )
        ],
    ),
    "switch policy at a server": (
        [(NSD01_END, NSD01_END.replace("layer3+4", "ip both"))],
        [
            (
                "node: nsd01, name: bond0",
                "channels[0].ends[0].hash_policy: 'ip both' is no hash policy of a host; "
                "use one of layer2, layer2+3, layer3+4, vlan+srcmac, default, src_dst_port, src_port, dst_port",
            )
        ],
    ),
    "one end static, the other not": (
        [(NSD01_END, NSD01_END.replace("layer3+4", "layer3+4, protocol: static"))],
        [
            (
                "name: nsd01, members",
                "channels[0].ends[1].protocol: zam870 speaks LACP, and nsd01 does not: such ends take up one member at "
                "most; say the same of both ends",
            )
        ],
    ),
    "unknown node in a channel": (
        [("{node: nsd01, name: bond0", "{node: nsd1, name: bond0")],
        [
            (
                "node: nsd1,",
                "channels[0].ends[0].node: there is no node 'nsd1'; did you mean nsd01?",
            )
        ],
    ),
    "bond without an address": (
        [("{node: nsd01, name: bond0", "{node: nsd01, name: bond1")],
        [
            (
                "name: bond1",
                "channels[0].ends[0].name: nsd01 has no interface 'bond1'; give the bond an address there",
            )
        ],
    ),
    "channel between two networks": (
        [("{node: zam870, name: nsd01,", "{node: federation, name: nsd01,")],
        [
            (
                "node: federation",
                "channels[0].ends[1]: nsd01:bond0 is in network b, federation:nsd01 in f; join two ends of one network",
            )
        ],
    ),
    "two MTUs on a channel": (
        [(NSD01_B, NSD01_B.replace("}", ", mtu: 9000}"))],
        [
            (
                "name: nsd01, members",
                "channels[0].ends[1]: MTU 9000 at nsd01:bond0 and 1500 at zam870:nsd01; "
                "set one MTU, on network b for all its links",
            )
        ],
    ),
    "two MTUs on a link": (
        [("names: [cn01m]}", "names: [cn01m], mtu: 9000}")],
        [
            (
                "[cn01:eth1,",
                "links[10]: MTU 9000 at cn01:eth1 and 1500 at deisa:cn01; set one MTU, on network m for all its links",
            )
        ],
    ),
    "another MTU at a switch's own leg": (
        [("names: [deisa-m, deisa]}", "names: [deisa-m, deisa], mtu: 9000}")],
        [
            (
                "br-m: {",
                "nodes.deisa.interfaces.br-m.mtu: MTU 9000 at deisa:br-m, and network m has another; "
                "set one MTU, on network m for all its links",
            )
        ],
    ),
    "unknown cluster of a node": (
        [("cluster: JUMP", "cluster: JUMPS")],
        [("cluster: JUMPS", "nodes.nsd01.cluster: there is no cluster 'JUMPS'; did you mean JUMP?")],
    ),
    "unknown network of an interface": (
        [("eth0: {network: f,", "eth0: {network: x,")],
        [
            (
                "network: x",
                "nodes.nsd01.interfaces.eth0.network: there is no network 'x'; use one of b, f, m",
            ),
            (
                "[nsd01:eth0,",
                "links[0]: nsd01:eth0 is in network x, federation:nsd01 in f; join two ports of one network",
            ),
        ],
    ),
    "unknown network of a switch": (
        [
            (
                "federation: {role: switch, switch: f}",
                "spare: {role: switch, switch: x}\n  federation: {role: switch, switch: f}",
            )
        ],
        [("switch: x", "nodes.spare.switch: there is no network 'x'; use one of b, f, m")],
    ),
    "unknown cluster, network, switch and first location of the I/O nodes": (
        [
            ("    cluster: JUBL\n    network: b", "    cluster: JUPP\n    network: bb"),
            ("switch: zam870\n", "switch: zam780\n"),
            ("first: R00-M0-NC-3", "first: R00-M0-NC-5"),
        ],
        [
            (
                "first: R00",
                "pools.io.first: there is no location 'R00-M0-NC-5'; did you mean R00-M0-NC-4?",
            ),
            ("JUPP", "pools.io.cluster: there is no cluster 'JUPP'; did you mean JUMP?"),
            ("network: bb", "pools.io.network: there is no network 'bb'; did you mean b?"),
            ("zam780", "pools.io.switch: there is no node 'zam780'; did you mean zam870?"),
        ],
    ),
    "I/O nodes at the switch of another network": (
        [("switch: zam870\n", "switch: federation\n")],
        [
            (
                "  switch: federation",
                "pools.io.switch: federation is no switch of network b; use one of zam870",
            )
        ],
    ),
    "I/O nodes at no switch": (
        [("switch: zam870\n", "switch: nsd01\n")],
        [("  switch: nsd01", "pools.io.switch: nsd01 is no switch of network b; use one of zam870")],
    ),
    "unknown servers of a cluster": (
        [("JUBL: {administrator: SN, dns: SN, ntp: SN,", "JUBL: {administrator: SNN, dns: S, ntp: zam,")],
        [
            ("  JUBL:", "clusters.JUBL.dns: there is no node 'S'; did you mean SN?"),
            ("  JUBL:", "clusters.JUBL.ntp: there is no node 'zam'; did you mean zam870?"),
            ("  JUBL:", "clusters.JUBL.administrator: there is no node 'SNN'; did you mean SN?"),
        ],
    ),
    "server without an interface": (
        [("dns: SN,", "dns: zam870,")],
        [("  JUBL:", "clusters.JUBL.dns: zam870 has no interface; use a node that has one")],
    ),
    "name servers, one twice and one that is not there": (
        [("dns: SN,", "dns: [SN, ns1, SN],")],
        [
            ("  JUBL:", "clusters.JUBL.dns[1]: there is no node 'ns1'; did you mean nsd01?"),
            ("  JUBL:", "clusters.JUBL.dns[2]: SN stands there twice; name each name server once"),
        ],
    ),
    "DNS server without a name": (
        [("names: [SN-b, SN]", "names: []")],
        [
            (
                "  JUBL:",
                "clusters.JUBL.dns: the interface by which SN is known has no name; give it one in `names`",
            )
        ],
    ),
    "gateway in none of the node's networks": (
        [("- {to: b, via: 10.1.44.1}", "- {to: b, via: 10.2.64.1}")],
        [
            (
                "- {to: b, via",
                "nodes.cn01.routes[0].via: the gateway 10.2.64.1 is in none of the node's networks; "
                "use a gateway in 10.1.33.0/24 or 10.1.44.0/24",
            )
        ],
    ),
    "gateway that nobody is": (
        [("- {to: f, via: 10.2.64.1}", "- {to: f, via: 10.2.64.2}")],
        [
            (
                "- {to: f, via",
                "nodes.SN.routes[0].via: nobody has the gateway's address 10.2.64.2; "
                "use the address of a node's interface",
            )
        ],
    ),
    "route to an unknown network": (
        [("- {to: f, via: 10.2.64.1}", "- {to: ff, via: 10.2.64.1}")],
        [("- {to: ff", "nodes.SN.routes[0].to: there is no network 'ff'; did you mean f?")],
    ),
    "route to neither a network nor an address": (
        [("- {to: f, via: 10.2.64.1}", "- {to: [f], via: 10.2.64.1}")],
        [
            (
                "- {to: [f]",
                f"nodes.SN.routes[0].to: input is not a valid IPv4 address (it is ['f']); {GIVE}",
            )
        ],
    ),
    "misspelt key": (
        [("- {to: b, via: 10.1.44.1}", "- {to: b, vie: 10.1.44.1}")],
        [("vie:", "nodes.cn01.routes[0].vie: unknown key; did you mean via?")],
    ),
    "unknown key": (
        [("lab: jubl\n", "lab: jubl\nmine: yes\n")],
        [("mine:", "mine: unknown key; remove it or correct its spelling")],
    ),
    "a number for a key": (
        [("lab: jubl\n", "lab: jubl\n1: 2\n")],
        [("1: 2", f"[1]: keys should be strings (it is 1); {GIVE}")],
    ),
    "unknown node in a link": (
        [("[deisa:eth0, zam870:deisa]", "[diesa:eth0, zam870:deisa]")],
        [("[diesa:eth0", "links[12].ends[0]: there is no node 'diesa'; did you mean deisa?")],
    ),
    "unknown interface in a link": (
        [("[nsd01:eth0,", "[nsd01:eth9,")],
        [("[nsd01:eth9", "links[0].ends[0]: nsd01 has no interface 'eth9'; did you mean eth1?")],
    ),
    "link end of bad form": (
        [("[nsd01:eth0,", "[nsd01-eth0,")],
        [
            (
                "[nsd01-eth0",
                f"links[0].ends[0]: input should be NODE:DEVICE (it is 'nsd01-eth0'); {GIVE}",
            )
        ],
    ),
    "link with one end": (
        [("[nsd01:eth0, federation:nsd01]", "[nsd01:eth0]")],
        [
            (
                "[nsd01:eth0]",
                "links[0].ends: list should have at least 2 items after validation, not 1 "
                f"(it is ['nsd01:eth0']); {GIVE}",
            )
        ],
    ),
    "two networks on a link": (
        [("[nsd01:eth0, federation:nsd01]", "[nsd01:eth0, deisa:more]")],
        [
            (
                "deisa:more",
                "links[0]: nsd01:eth0 is in network f, deisa:more in m; join two ports of one network",
            )
        ],
    ),
    "interface without a cable": (
        [("  - ends: [cn02:eth1, deisa:cn02]\n", "")],
        [
            (
                "names: [cn02m]",
                "nodes.cn02.interfaces.eth1: cn02:eth1 has no cable; add it to `links` or to a channel",
            )
        ],
    ),
    "port used twice": (
        [("[cn02:eth1, deisa:cn02]", "[cn02:eth1, deisa:cn01]")],
        [("[cn01:eth1,", "links[10].ends[1]: deisa:cn01 carries 2 cables; use each port once")],
    ),
    "key twice": (
        [("lab: jubl\n", "lab: jubl\nlab: jubl2\n")],
        [("lab: jubl2", "lab: this key stands twice; keep one of the two")],
    ),
    "key twice, deep down": (
        [("{network: b, address: 10.2.64.220,", "{network: b, address: 10.2.64.219, address: 10.2.64.220,")],
        [
            (
                "address: 10.2.64.220",
                "nodes.SN.interfaces.bond0.address: this key stands twice; keep one of the two",
            )
        ],
    ),
    "missing key of a node": (
        [("    cluster: JUMP\n    role: server\n", "    cluster: JUMP\n")],
        [("  nsd01:", "nodes.nsd01: `role` is missing; add it")],
    ),
    "role that is no word": (
        [("role: server", "role: [server]")],
        [("role: [server]", f"nodes.nsd01.role: input should be a valid string (it is ['server']); {GIVE}")],
    ),
    "no I/O node": (
        [("count: 8", "count: 0")],
        [
            (
                "count: 0",
                f"pools.io.count: input should be greater than or equal to 1 (it is 0); {GIVE}",
            )
        ],
    ),
    "text for a number": (
        [("rate_mbit: 16000", "rate_mbit: fast")],
        [
            (
                "rate_mbit: fast",
                f"networks.f.rate_mbit: input should be a valid integer (it is 'fast'); {GIVE}",
            )
        ],
    ),
    "a number in quotes": (
        [("rate_mbit: 16000", "rate_mbit: '16000'")],
        [
            (
                "rate_mbit: '16000'",
                f"networks.f.rate_mbit: input should be a valid integer (it is '16000'); {GIVE}",
            )
        ],
    ),
    "no list of members": (
        [(NSD01_END, NSD01_END.replace("[eth2, eth3, eth4, eth5]", "4"))],
        [
            (
                "node: nsd01, name: bond0",
                f"channels[0].ends[0].members: input should be a valid list (it is 4); {GIVE}",
            )
        ],
    ),
    "links misspelt": (
        [("\nlinks:\n", "\nlinkz:\n")],
        [("linkz:", "linkz: unknown key; remove it or correct its spelling")],
    ),
    "more I/O nodes than locations": (
        [("count: 8", "count: 289")],
        [("count: 289", "pools.io.count: 289 I/O nodes, and locations for 288; use 1 to 288")],
    ),
    "more I/O nodes than addresses": (
        [("addresses_from: 10.2.64.33", "addresses_from: 10.2.67.250")],
        [
            (
                "count: 8",
                "pools.io.count: 8 I/O nodes, and 5 addresses from 10.2.67.250 in 10.2.64.0/22; "
                "use 1 to 5, or a larger network",
            )
        ],
    ),
    "addresses, but not for the locations that are powered": (
        [
            ("addresses_from: 10.2.64.33", "addresses_from: 10.2.67.235"),
            ("R00-M0-NC-3\n", "R01-M0-N0-3\n"),
            ("booted: R000_NCDEF_FAT", "booted: ALL"),
        ],
        [
            (
                "count: 8",
                "pools.io.count: 20 addresses from 10.2.67.235 in 10.2.64.0/22, none of them for "
                "R01-M0-N0-3; use fewer, an earlier `first`, or a larger network",
            )
        ],
    ),
    "I/O nodes' addresses outside of the network": (
        [("addresses_from: 10.2.64.33", "addresses_from: 10.2.68.33")],
        [
            (
                "addresses_from",
                "pools.io.addresses_from: 10.2.68.33 is outside of network b, 10.2.64.0/22; "
                "use an address from 10.2.64.1 to 10.2.67.254",
            )
        ],
    ),
    "a rack twice": (
        [("racks: [R01, R02,", "racks: [R01, R01,")],
        [
            (
                "  locations:",
                "pools.io.locations: R01-M0-N0-3 stands there twice; name each location once",
            )
        ],
    ),
    "unknown boot server": (
        [("boot: {server: SN,", "boot: {server: SNN,")],
        [("boot: {server", "pools.io.boot.server: there is no node 'SNN'; did you mean SN?")],
    ),
    "boot server without a leg in the I/O network": (
        [("boot: {server: SN,", "boot: {server: cn01,")],
        [
            (
                "boot: {server",
                "pools.io.boot.server: cn01 has no interface in b, the I/O nodes' network; use a node that has one",
            )
        ],
    ),
    "boot server of another cluster": (
        [("boot: {server: SN,", "boot: {server: nsd01,")],
        [
            (
                "boot: {server",
                "pools.io.boot.server: nsd01 is not in JUBL, the I/O nodes' cluster; use a node of JUBL",
            )
        ],
    ),
    "boot server whose leg in the I/O network has a bad form": (
        [("address: 10.2.64.220", "address: 10.2.64.2200")],
        [
            (
                "address: 10.2.64.2200",
                f"nodes.SN.interfaces.bond0.address: input is not a valid IPv4 address (it is '10.2.64.2200'); {GIVE}",
            )
        ],
    ),
    "I/O nodes and nobody to boot from": (
        [(BOOT, "")],
        [("  io:", "pools.io: `boot` is missing; add it")],
    ),
    "boot without its server": (
        [("boot: {server: SN, nfs", "boot: {nfs")],
        [("boot: {nfs", "pools.io.boot: `server` is missing; add it")],
    ),
    "pool of an unknown platform": (
        [("platform: bluegene", "platform: bluejean")],
        [
            (
                "platform: bluejean",
                "pools.io.platform: there is no such platform (it is 'bluejean'); use one of plain, bluegene, onesis",
            )
        ],
    ),
    "block without a location": (
        [("R001_NF: R00-M1-NF-4", "R001_NF: R00-M1-NG-4")],
        [
            (
                "R00-M1-NG",
                "pools.io.blocks.R001_NF: no location matches 'R00-M1-NG-4'; use a pattern like R00-M0-NC-?",
            )
        ],
    ),
    "unknown block to boot": (
        [("booted: R000_NCDEF_FAT", "booted: R000_NCDEF")],
        [("  booted:", "pools.io.booted: there is no block 'R000_NCDEF'; did you mean R000_NCDEF_FAT?")],
    ),
    "block to boot whose name has a bad form": (
        [("R000_NCDEF_FAT: R00", "R000-NCDEF-FAT: R00"), ("booted: R000_NCDEF_FAT", "booted: R000-NCDEF-FAT")],
        [
            (
                "R000-NCDEF-FAT: R00",
                "pools.io.blocks.R000-NCDEF-FAT: string should match pattern '^[A-Za-z0-9_]{1,31}$' "
                f"(it is 'R000-NCDEF-FAT'); {GIVE}",
            )
        ],
    ),
    "block to boot without a powered node": (
        [("booted: R000_NCDEF_FAT", "booted: R001_NF")],
        [
            (
                "  booted:",
                "pools.io.booted: none of the 8 I/O nodes from R00-M0-NC-3 on is in block R001_NF; "
                "boot a block that has one",
            )
        ],
    ),
    "unknown owner of a filesystem": (
        [("work: {owner: JUMP", "work: {owner: JUMPP")],
        [("  work:", "filesystems.work.owner: there is no cluster 'JUMPP'; did you mean JUMP?")],
    ),
    "unknown server of a filesystem": (
        [(WORK, WORK.replace("nsd04", "nsd05"))],
        [("  work:", "filesystems.work.servers[3]: there is no node or pool 'nsd05'; did you mean nsd04?")],
    ),
    "filesystem served by another cluster's node": (
        [(WORK, WORK.replace("nsd04", "FEN"))],
        [("  work:", f"filesystems.work.servers[3]: FEN is no node of JUMP that has disks; {SERVERS}")],
    ),
    "filesystem served by a switch": (
        [(WORK, WORK.replace("nsd04", "zam870"))],
        [("  work:", f"filesystems.work.servers[3]: zam870 is no node of JUMP that has disks; {SERVERS}")],
    ),
    "filesystem server named twice": (
        [(WORK, WORK.replace("nsd04", "nsd02"))],
        [("  work:", "filesystems.work.servers[3]: nsd02 is named twice; name each server once")],
    ),
    "filesystem of two servers": (
        [(WORK, WORK.replace(", nsd03, nsd04", ""))],
        [
            (
                "  work:",
                "filesystems.work.servers: 2 servers for parity 1: there must be more than twice as many; "
                "name 3 or more, or use less parity",
            )
        ],
    ),
    "two filesystems at one mount point": (
        [("mount_point: /work", "mount_point: /home1")],
        [
            (
                "  work:",
                "filesystems.work.mount_point: home1 is mounted at /home1, too; give each a mount point of its own",
            )
        ],
    ),
    "mount point that is no path from the root": (
        [("mount_point: /work", "mount_point: work")],
        [
            (
                "  work:",
                f"filesystems.work.mount_point: string should match pattern '{MOUNT_POINT}' (it is 'work'); {GIVE}",
            )
        ],
    ),
    "mount point that leads up": (
        [("mount_point: /work", "mount_point: /../work")],
        [
            (
                "  work:",
                f"filesystems.work.mount_point: string should match pattern '{MOUNT_POINT}' (it is '/../work'); {GIVE}",
            )
        ],
    ),
    "filesystem whose name has a bad form": (
        [("  work: {", "  Work-1: {")],
        [
            (
                "  Work-1:",
                f"filesystems.Work-1: string should match pattern '^[a-z][a-z0-9_]{{0,30}}$' (it is 'Work-1'); {GIVE}",
            )
        ],
    ),
    "filesystem that holds nothing": (
        [("size_mib: 6144", "size_mib: 15")],
        [
            (
                "  work:",
                f"filesystems.work.size_mib: input should be greater than or equal to 16 (it is 15); {GIVE}",
            )
        ],
    ),
    "typo in a filesystem's key": (
        [("size_mib: 6144", "size_mb: 6144")],
        [("  work:", "filesystems.work.size_mb: unknown key; did you mean size_mib?")],
    ),
    "mounts and a cluster without DNS": (
        [("dns: SN, ", "")],
        [
            (
                "  JUBL:",
                "clusters.JUBL: nobody answers DNS queries of JUBL, and the commands of its administrator ask DNS; "
                "add `dns: NODE`",
            )
        ],
    ),
    "mounts and a cluster without an administrator": (
        [("administrator: SN, ", "")],
        [
            (
                "  JUBL:",
                "clusters.JUBL: JUBL has nobody that its administrator could work on; add `administrator: NODE`",
            )
        ],
    ),
    "filesystems and a node without a name": (
        [(", names: [FEN-b, FEN]", "")],
        [
            (
                "address: 10.2.64.221",
                "nodes.FEN.interfaces.bond0.names: FEN has no name by which JUBL could know it; "
                "name the interface by which it is known in `names`",
            )
        ],
    ),
}


@pytest.mark.parametrize("name", ONE_MISTAKE)
def test_one_mistake_gives_its_line_and_no_other(name: str, tmp_path: Path) -> None:
    replacements, expected = ONE_MISTAKE[name]
    text = changed(*replacements)
    numbers = [line_of(text, piece) for piece, _ in expected]
    lines = [f"{n}: {said}" for n, (_, said) in zip(numbers, expected, strict=True)]
    assert mistakes(text, tmp_path) == lines


def test_every_missing_key_of_the_file_is_said(tmp_path: Path) -> None:
    assert mistakes("lab: x\n", tmp_path) == [
        "1: -: `domain` is missing; add it",
        "1: -: `networks` is missing; add it",
        "1: -: `clusters` is missing; add it",
        "1: -: `nodes` is missing; add it",
    ]


NO_MAPPING = "1: -: this is no mapping; begin with `lab: NAME`"
NOT_YAML = {
    "empty": ("", NO_MAPPING),
    "comment": ("# jubl\n", NO_MAPPING),
    "list": ("- lab: jubl\n", NO_MAPPING),
    "word": ("jubl\n", NO_MAPPING),
    "open bracket": (
        "lab: jubl\nnodes: [\n",
        "3: -: expected the node content, but found '<stream end>'; make it YAML",
    ),
    "tab": (
        "lab: jubl\nnodes:\n\ta: b\n",
        "3: -: found character '\\t' that cannot start any token; make it YAML",
    ),
    "two documents": (
        "lab: jubl\n---\nlab: x\n",
        "2: -: but found another document; make it YAML",
    ),
    "control character": (
        "lab: jubl\ndomain: \x07\n",
        "2: -: special characters are not allowed; make it YAML",
    ),
    "a list for a key": ("lab: jubl\n? [a]\n: b\n", "2: -: found unhashable key; make it YAML"),
    "a Python object": (
        "lab: jubl\ndomain: !!python/none x\n",
        "2: -: there is no !!python/none in a site's file; remove the tag",
    ),
    "unknown alias": ("lab: jubl\ndomain: *x\n", "2: -: found undefined alias 'x'; make it YAML"),
    "an alias in its own list": (
        "lab: jubl\nlinks: &x [*x]\n",
        "2: -: an alias stands for something that contains it; make it YAML",
    ),
}


@pytest.mark.parametrize("name", NOT_YAML)
def test_what_is_no_topology_at_all_gives_one_line(name: str, tmp_path: Path) -> None:
    text, expected = NOT_YAML[name]
    assert mistakes(text, tmp_path) == [expected]


def test_a_date_is_a_string_like_others(tmp_path: Path) -> None:
    assert mistakes(changed(("lab: jubl", "lab: 2026-99-99")), tmp_path)[0].endswith(
        "(it is '2026-99-99'); give a value of that form"
    )


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for file, why in (
        (tmp_path / "none.yaml", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(BadInput) as caught:
            load_site(file)
        assert str(caught.value) == f"{file}: {why}; name a topology file or a shipped lab"


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "image"
    file.write_bytes(b"\x7fELF\xff\xfe\x00")
    with pytest.raises(BadInput) as caught:
        load_site(file)
    assert str(caught.value) == f"{file}: this is no text; name a topology file or a shipped lab"


def test_a_count_for_a_pool_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert mistakes(changed((POOLS, "")), tmp_path, {"io": 4}) == [
        "this site has no pool 'io' with a count; leave the count out"
    ]
    assert mistakes(JUBL, tmp_path, {"ios": 4}) == ["this site has no pool 'ios' with a count; did you mean io?"]


def test_a_count_from_the_command_line_is_checked_as_the_files_own(tmp_path: Path) -> None:
    line = line_of(JUBL, "count: 8")
    assert mistakes(JUBL, tmp_path, {"io": 289}) == [
        f"{line}: pools.io.count: 289 I/O nodes, and locations for 288; use 1 to 288"
    ]


def test_lines_are_the_files_also_after_many_list_items_of_bad_form(tmp_path: Path) -> None:
    # places 2 and 11 to 22 of one list: their order as text is not their order as numbers
    bad = [f"  - ends: [x{n}:e]\n" for n in range(12)]
    text = changed(
        ("  - ends: [cn02:eth1, deisa:cn02]\n", "".join(bad) + "  - ends: [cn02:eth1, disa:cn02]\n"),
        ("  - ends: [nsd03:eth0,", "  - endz: [nsd03:eth0,"),
        ("[deisa:eth0, zam870:deisa]", "[diesa:eth0, zam870:deisa]"),
        (NSD01_END.replace("nsd01", "nsd02"), NSD01_END.replace("nsd01", "nsd02").replace("3+4", "9")),
    )
    file = tmp_path / "site.yaml"
    file.write_text(text)
    with pytest.raises(BadInput) as caught:
        load_site(file)
    found = [(p.line, p.path) for p in caught.value.problems]
    first = line_of(text, "[x0:e]")
    assert found == [
        (line_of(text, "endz:"), "links[2].endz"),
        *((first + n, f"links[{11 + n}].ends") for n in range(12)),
        (line_of(text, "disa:cn02"), "links[23].ends[1]"),
        (line_of(text, "[diesa:eth0"), "links[24].ends[0]"),
        (line_of(text, "layer9"), "channels[1].ends[0].hash_policy"),
    ]


def test_bad_items_of_a_shared_list_are_said_once_and_taken_out_of_each_node(tmp_path: Path) -> None:
    text = changed(
        ("- {to: f, via: 10.2.64.1}", "- {to: f}"),
        ("- {to: 10.1.33.203, via: 10.2.64.203}", "- {to: 10.1.33.203, via: 10.2.64.207}"),
    )
    assert mistakes(text, tmp_path) == [
        f"{line_of(text, '- {to: f}')}: nodes.SN.routes[0]: `via` is missing; add it",
        f"{line_of(text, 'via: 10.2.64.207')}: nodes.SN.routes[2].via: nobody has the gateway's address "
        "10.2.64.207; use the address of a node's interface",
    ]
