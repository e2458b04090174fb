"""The service node's scripts: shells can read all of them, and some run here, on a tree in a temporary folder."""

import os
import re
from pathlib import Path

import pytest

from causeway.model.load import load_site
from causeway.model.pools.bluegene import BlueGene, all_names, block_nodes
from causeway.model.site import Site, build_site
from causeway.model.topology import Cluster
from causeway.process import Result, run
from causeway.render.secrets import Secrets
from causeway.render.site import render
from causeway.render.text import Files
from tests.unit.shells import SHELLS

JUBL = load_site(Path(__file__).parents[2] / "topologies/jubl/site.yaml")
RC3 = "etc/rc.d/rc3.d"


def pool_of(site: Site) -> BlueGene:
    pool = site.boot_pool()
    assert pool is not None
    return pool


def tree_of(site: Site) -> Files:
    """The service node's files by their paths on it."""
    return {
        path.removeprefix("nodes/SN"): file
        for path, file in render(site, Secrets(site)).items()
        if path.startswith("nodes/SN/")
    }


def bare() -> Site:
    """jubl with nothing for the site's templates to repeat: no routes, name servers, time server, tunables."""
    topology = JUBL.topology
    pools = topology.pools | {"io": pool_of(JUBL).model_copy(update={"routes": []})}
    clusters = {name: Cluster() for name in topology.clusters}
    changed = {"pools": pools, "clusters": clusters, "sysctl": {}, "filesystems": {}}
    return build_site(topology.model_copy(update=changed))


TREE = tree_of(JUBL)
# each text once: of the bare site those that its templates make
SCRIPTS = {
    file.text: f"{path} ({name})"
    for name, tree in (("bare", tree_of(bare())), ("jubl", TREE))
    for path, file in tree.items()
    if file.text.startswith("#!") or path.endswith((".sh", "/profile", "/rc.status"))
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("script", SCRIPTS, ids=SCRIPTS.get)
def test_a_shell_can_read_every_script(script: str, shell: list[str]) -> None:
    result = run([*shell, "-n"], stdin=script)
    assert (result.rc, result.stderr) == (0, "")


def start_scripts(tree: str) -> list[str]:
    return [path.rpartition("/")[2] for path in TREE if path.startswith(f"{tree}/{RC3}/")]


def profile() -> dict[str, str]:
    return dict(re.findall(r"^(?:export )?(\w+)=(.*)$", TREE["/etc/bgl/profile"].text, re.MULTILINE))


def test_every_start_script_is_run_and_none_has_the_name_of_another() -> None:
    system, site = (start_scripts(profile()[tree]) for tree in ("BGL_DISTDIR", "BGL_SITEDISTDIR"))
    assert all(re.fullmatch(r"S\d\d\w+", name) for name in [*system, *site])
    assert len({*system, *site}) == len(system) + len(site)
    # what the site says is there before the system's script that looks for it, and the other way round
    for first, then in (
        ("S05network", "S14routes_to_federation"),
        ("S10site_sysconfig", "S16sshd"),
        ("S14etc_ntp_conf", "S18ntpd"),
        ("S40fs", "S41fs_mount"),
    ):
        assert {first, then} <= {*system, *site}
        assert first < then


def test_service_node_and_io_nodes_agree_on_who_and_where_things_are() -> None:
    on_service_node = profile()
    rc_sysinit = TREE["/bgl/BlueLight/ppcfloor/ramdisk/etc/rc.d/rc.sysinit"].text
    for name in ("BGLOS", "BGL_DISTDIR", "BGL_SITEDISTDIR"):
        assert re.findall(rf"\b{name}=(/\S+)", rc_sysinit) == [on_service_node[name]]
    mounts = [line.split()[1] for line in TREE["/etc/fstab"].text.splitlines() if not line.startswith("#")]
    exports = [line.split()[0] for line in TREE["/etc/exports"].text.splitlines() if not line.startswith("#")]
    own = [f"/bgl/gpfsvar/{JUBL.known_by(node).address}" for node in JUBL.diskless()]
    mounted = ["/bgl", "/bgl/tmp", f"{on_service_node['BGLOS']}/usr", *own]
    assert set(mounted) <= set(mounts)
    assert sorted(exports) == sorted(["/srv/nfs4", *(f"/srv/nfs4{path}" for path in mounted)])
    leg = JUBL.nodes["SN"].interfaces[on_service_node["BGL_INTERFACE"]]
    assert (on_service_node["BGL_SNIP"], leg.network) == (str(leg.address), pool_of(JUBL).network)


def test_each_io_node_may_read_the_trees_write_its_own_var_and_what_may_be_tmp_and_nobody_else_anything() -> None:
    lines = [line.split() for line in TREE["/etc/exports"].text.splitlines() if not line.startswith("#")]
    nodes = [str(JUBL.known_by(node).address) for node in JUBL.diskless()]
    own = {f"/srv/nfs4/bgl/gpfsvar/{address}": [address] for address in nodes}
    own["/srv/nfs4/bgl/tmp"] = nodes
    for path, options, *clients in lines:
        access = options[1:].split(",")[0]
        assert (access, clients) == (("rw", own[path]) if path in own else ("ro", nodes)), path
    assert own.keys() < {line[0] for line in lines}
    numbers = re.findall(r",fsid=(\d+) ", TREE["/etc/exports"].text)
    assert len(set(numbers)) == len(numbers) == len(lines)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("block", pool_of(JUBL).blocks)
def test_a_shell_takes_a_blocks_pattern_as_the_model_does(block: str, shell: list[str]) -> None:
    pool = pool_of(JUBL)
    select = 'while read -r node; do case $node in $0) echo "$node" ;; esac; done'
    found = run([*shell, "-c", select, pool.blocks[block]], stdin="".join(f"{name}\n" for name in all_names(pool)))
    assert found.must().split() == block_nodes(pool, block, all_names(pool)) != []


class ServiceNode:
    """The real commands and their files below a folder: only the paths in them are others, none is replaced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        own = re.compile(r"(?<![\w/}])(?=/(?:etc/bgl|usr/local/lib|bgl|service|var/lib/bgl)\b)")
        for path, file in TREE.items():
            if path.startswith(("/etc/bgl/", "/usr/local/")):
                self.put(path, own.sub(str(folder), file.text))
        for path in ("/var/lib/bgl/blocks", "/bgl/personality", "/bgl/BlueLight/logs/BGL", "/service/power"):
            self.at(path).mkdir(parents=True)

    def at(self, path: str) -> Path:
        return self.folder / path.lstrip("/")

    def put(self, path: str, text: str) -> None:
        self.at(path).parent.mkdir(parents=True, exist_ok=True)
        self.at(path).write_text(text)

    def console(self, node: str, *lines: str) -> None:
        self.put(f"/bgl/BlueLight/logs/BGL/{node}.log", "".join(f"[    1.000] {line}\n" for line in lines))

    def allocate(self, block: str) -> None:
        self.put(f"/var/lib/bgl/blocks/{block}", "ann 2026-01-01 00:00:00\n")

    def does(self, command: str, *words: str) -> Result:
        return run(["sh", str(self.at(f"/usr/local/sbin/{command}")), *words], timeout_s=20)

    def blocks(self) -> dict[str, tuple[int, int, str]]:
        """What bglblocks says: nodes, how many of them are up, and whose the block is."""
        head, *rows = (line.split(None, 4) for line in self.does("bglblocks").must().splitlines())
        assert head[:4] == ["BLOCK", "NODES", "ALL", "UP"]
        assert {row[0]: row[1] for row in rows} == pool_of(JUBL).blocks
        return {row[0]: (int(row[2]), int(row[3]), row[4]) for row in rows}


@pytest.fixture
def sn(tmp_path: Path) -> ServiceNode:
    return ServiceNode(tmp_path)


FAT = "R000_NCDEF_FAT"
IONS = JUBL.diskless()


def test_bglblocks_counts_the_nodes_that_the_machine_has_and_those_that_are_up(sn: ServiceNode) -> None:
    counts = {block: len(block_nodes(pool_of(JUBL), block, IONS)) for block in pool_of(JUBL).blocks}
    assert counts[FAT] == counts["ALL"] == 8
    assert sn.blocks() == {block: (count, 0, "free") for block, count in counts.items()}
    sn.allocate(FAT)
    sn.console(IONS[0], "boot ended: up", "a later line")
    sn.console(IONS[1], "boot ended: up", "power off")
    sn.console(IONS[2], "firmware: no DHCP answer; trying again in 1 s")
    assert sn.blocks()[FAT] == (8, 1, "ann 2026-01-01 00:00:00")
    assert sn.blocks()["ALL"] == (8, 1, "free")


REFUSED = {
    "bglallocate without a user": (["bglallocate", FAT], "usage: bglallocate BLOCK USER"),
    "bglallocate of an unknown block": (["bglallocate", "R009", "ann"], "there is no block R009; the blocks are R000_"),
    "bglallocate of a block without nodes": (["bglallocate", "R001", "ann"], "block R001 has no I/O node that this"),
    "bglallocate of one's own block": (["bglallocate", FAT, "ann"], f"{FAT} is allocated already, to ann; bgldeall"),
    "bglallocate of another's nodes": (["bglallocate", "ALL", "bob"], f"{IONS[0]} is in block {FAT}, which is alloc"),
    "bgldeallocate of a free block": (["bgldeallocate", "R000"], "R000 is not allocated; bglblocks shows what is"),
    "bgldeallocate of an unknown block": (["bgldeallocate", "R009"], "there is no block R009; the blocks are R000_"),
    "bglras of an unknown block": (["bglras", "-b", "R009"], "there is no block R009"),
    "bglras of an unknown node": (["bglras", "-n", "R99"], "there is no I/O node R99"),
    "bglras of a word": (["bglras", "R000"], "usage: bglras [-b BLOCK] [-n NODE]"),
    "bglpower of an unknown node": (["bglpower", "off", IONS[0], "R99"], "there is no I/O node R99"),
    "bglpower of no node": (["bglpower", "on"], "usage: bglpower on|off|reset NODE..."),
    "bglpower to nowhere": (["bglpower", "up", IONS[0]], "usage: bglpower on|off|reset NODE..."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_question_gets_2_and_nothing_is_done(name: str, sn: ServiceNode) -> None:
    (command, *words), said = REFUSED[name]
    sn.allocate(FAT)
    before = {path: path.stat().st_mtime_ns for path in sn.folder.rglob("*")}
    result = sn.does(command, *words)
    assert (result.rc, result.stdout) == (2, "")
    assert result.stderr.startswith(f"{command}: {said}")
    assert {path: path.stat().st_mtime_ns for path in sn.folder.rglob("*")} == before


def test_bglras_lists_what_nodes_said_of_any_boot_by_node_block_and_time(sn: ServiceNode) -> None:
    def events(*words: str) -> list[str]:
        return sn.does("bglras", *words).must().splitlines()

    assert events() == []
    one, other = IONS[:2]
    kept = f"2026-01-01 00:00:05 {other} R000 S16sshd: no host keys"
    sn.put("/var/lib/bgl/ras", f"{kept}\n")
    block = f"{one} is 10.2.64.57 in block {FAT}; trees mounted from 10.2.64.220"
    sn.console(one, block, "S40fs: RAS advisory of 2026-01-02 10:00:00: it did not come up", "boot ended: up")
    sn.console(other, block, "boot ended: up")
    late = f"2026-01-02 10:00:00 {one} {FAT} it did not come up"
    assert events() == [kept, late]
    assert events("-n", other) == [kept]
    assert events("-b", FAT) == [late]
    assert events("-s", "2026-01-01 00:00:06") == [late]
    assert events("-b", FAT, "-n", other) == []


def power_line(sn: ServiceNode, node: str) -> int:
    """The node's end of its power line."""
    path = sn.at(f"/service/power/{node}")
    os.mkfifo(path)
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK)


def test_bglpower_gives_its_order_to_the_nodes_that_are_named_and_to_no_other(sn: ServiceNode) -> None:
    lines = {node: power_line(sn, node) for node in IONS}
    for order in ("off", "reset"):
        assert sn.does("bglpower", order, IONS[1], IONS[2]).must() == ""
        heard = {node: os.read(line, 99).decode() for node, line in lines.items()}
        assert heard == dict.fromkeys(IONS, "") | dict.fromkeys(IONS[1:3], f"{order}\n")


def test_bgldeallocate_switches_each_node_of_the_block_off_and_frees_it(sn: ServiceNode) -> None:
    lines = {node: power_line(sn, node) for node in IONS}
    sn.allocate(FAT)
    for node in IONS:
        sn.put(f"/bgl/personality/{node}", f"BGL_BLOCKID={FAT}\n")
    sn.console(IONS[0], "boot ended: up", "power off")
    assert sn.does("bgldeallocate", FAT).must() == f"bgldeallocate: {FAT}: 8 I/O nodes are off, and free\n"
    assert {os.read(line, 99) for line in lines.values()} == {b"off\n"}
    assert list(sn.at("/bgl/personality").iterdir()) == []
    assert sn.blocks()[FAT] == (8, 0, "free")


#: What S40fs calls, but for a daemon that never comes up.
_NEVER_UP = """
sleep() { echo looked; }
mcstartup() { :; }
mcgetstate() { echo down; }
ras_advisory() { echo "$1"; }
"""


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("said", "looks"),
    [
        ("FS_STARTUP_CHECK=mcgetstate", 10),
        ("FS_STARTUP_CHECK=touchfile", 300),
        ("FS_STARTUP_CHECK=touchfile FS_STARTUP_LOOKS=30", 30),
        ("FS_STARTUP_CHECK=mcgetstate FS_STARTUP_LOOKS=30", 10),
    ],
)
def test_a_start_script_looks_so_often_for_the_daemon(said: str, looks: int, shell: list[str], tmp_path: Path) -> None:
    text = TREE[f"/bgl/BlueLight/ppcfloor/dist/{RC3}/S40fs"].text
    waits = text[text.index("# Two ways to see") :]
    for path in ("/tmp/fs.up", "/var/mc", "/var/log"):
        waits = waits.replace(path, f"{tmp_path}{path}")
    (tmp_path / "var" / "log").mkdir(parents=True)
    done = run(shell, stdin=f"BGL_LOCATION=R00-M0-NC-3 {said}\n{_NEVER_UP}\n{waits}")
    assert done.rc == 1 and "did not come up on I/O node R00-M0-NC-3" in done.stdout
    assert done.stdout.count("looked") == looks


@pytest.mark.parametrize("software", [True, False], ids=["with the software", "without it"])
def test_a_node_whose_system_has_no_filesystem_software_says_so_and_waits_for_no_daemon(
    tmp_path: Path, *, software: bool
) -> None:
    """S40fs on a node that is in a cluster; only the paths in it are others, and nothing is mounted."""
    said = {"mount": "", "sync": "", "mcstartup": "", "mcgetstate": "echo active"}
    tree = {
        "etc/personality.sh": "BGL_IP=10.0.0.1 BGL_LOCATION=R00-M0-NC-3 BGLOS=/bgl/os\n",
        "etc/rc.status": TREE["/bgl/BlueLight/ppcfloor/ramdisk/etc/rc.status"].text,
        "etc/sysconfig/fs": f"FS_STARTUP=1\nFS_VAR_DIR={tmp_path}/gpfsvar\n",
        "var/mc/gen/cluster": "name blue.example\n",
        "var/log/here": "",
        "tmp/here": "",
        **{f"bin/{name}": f"#!/bin/sh\n{text}\n" for name, text in said.items() if software or name[:2] != "mc"},
    }
    for path, text in tree.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o755)
    own = re.compile(r"(?<![\w/}])(?=/(?:etc|var|tmp)/)")
    script = own.sub(str(tmp_path), TREE[f"/bgl/BlueLight/ppcfloor/dist/{RC3}/S40fs"].text)
    (tmp_path / "S40fs").write_text(script)
    done = run(["env", f"PATH={tmp_path}/bin:/usr/bin:/bin", "sh", str(tmp_path / "S40fs"), "start"], timeout_s=60)
    assert done.rc == (0 if software else 1), done.stderr
    lost = "R00-M0-NC-3 finds no filesystem software in $BGLOS (/bgl/os)"
    assert (lost in done.stdout, done.stdout.endswith("active\n")) == (not software, software)
    assert not list((tmp_path / "var" / "log").glob("mcstartup.log")) or software
