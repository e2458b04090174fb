"""Diskless I/O nodes: what an administrator sees on SN and on a console, and a block's life in virtual time."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import PLAYS, Played, Tool

from tests.sites.blocks import JUBL, with_block
from tests.sites.larger import RACE, larger, with_racks


def test_an_io_node_has_booted_by_dhcp_tftp_and_nfs_and_its_console_tells(lab: Tool) -> None:
    console = lab("console", "R00-M0-NC-3").stdout
    wanted = ["power on", "DHCP on eth0", "10.2.64.57 from 10.2.64.220", "loaded ", "trees mounted", "boot ended: up"]
    places = [console.index(words) for words in wanted]
    assert places == sorted(places)
    on_sn = "cat $BGLLOGS/R00-M0-NC-3.log"
    assert lab.on("SN", "sh", "-c", f". /etc/bgl/profile; {on_sn}") == console


def test_its_software_is_sns_and_its_var_is_its_own_on_sn(lab: Tool) -> None:
    mounts = lab.on("R00-M0-NC-3", "cat", "/proc/mounts")
    assert "10.2.64.220:/bgl /bgl nfs4" in mounts
    assert "10.2.64.220:/bgl/gpfsvar/10.2.64.57/var/mc /var/mc nfs4" in mounts
    logs = lab.on("SN", "ls", "/bgl/gpfsvar/10.2.64.57/var/adm/ras").split()
    assert {"boot.log", "mc.log.latest"} <= set(logs)
    assert "root on / type tmpfs" in lab.on("R00-M0-NC-3", "mount")


#: Mounts $2 of SN at /tmp/sn with the address $1, does $3 there, and takes it away. (An I/O node has no mount.nfs4.)
_MOUNTS = """
options=vers=4.2,proto=tcp,soft,timeo=30,retrans=1,addr=10.2.64.220,clientaddr=$1
mkdir -p /tmp/sn && mount -i -t nfs4 -o $options 10.2.64.220:$2 /tmp/sn && cd /tmp/sn && sh -c "$3"
rc=$?
cd / && umount -l /tmp/sn
exit $rc
"""


def test_sn_gives_an_io_node_what_is_its_own_and_the_other_cluster_nothing(lab: Tool) -> None:
    own, others = "/bgl/gpfsvar/10.2.64.57", "/bgl/gpfsvar/10.2.64.58"

    def mounts(node: str, address: str, path: str, then: str) -> tuple[int, str]:
        done = lab("exec", "--json", node, "--", "sh", "-c", _MOUNTS, "sh", address, path, then)
        (row,) = json.loads(done.stdout)
        return row["rc"], row["stdout"]

    io_node, key = ("R00-M0-NC-3", "10.2.64.57"), "cat var/mc/ssl/id_rsa1"
    assert mounts(*io_node, own, "touch mine && rm mine && test -e var/mc/ssl/id_rsa")[0] == 0
    assert mounts(*io_node, "/bgl", "test -e dist/etc/hosts")[0] == 0
    refused = [(others, key), ("/bgl", f"cat gpfsvar/10.2.64.58/{key[4:]}"), ("/bgl", "touch x"), ("/", "touch x")]
    for path, then in refused:
        assert mounts(*io_node, path, then)[0] != 0, (path, then)
    for path in ("/", "/bgl", "/bgl/dist", own, "/bgl/gpfsvar"):
        rc, seen = mounts("nsd01", "10.2.64.202", path, 'ls -A && test -n "$(ls -A)"')
        assert (rc != 0, seen) == (True, ""), path
    # it is the exports that keep it out: were they for all of the network, it would read the other cluster's keys
    export = "exportfs -o ro,no_root_squash,no_subtree_check,fsid={} 10.2.64.0/22:/srv/nfs4{}"
    lab.on("SN", "sh", "-c", f"{export.format(0, '')} && {export.format(1, '/bgl')}")
    assert mounts("nsd01", "10.2.64.202", "/bgl", "cat dist/root/.ssh/id_ed25519")[0] == 0
    lab.on("SN", "exportfs", "-ra")


def test_scripts_can_source_the_personality(lab: Tool) -> None:
    words = '. /etc/personality.sh; echo "$BGL_BLOCKID $BGL_SNIP $BGL_LOCATION $BGL_IP"'
    said = lab.on("R00-M0-NF-4", "sh", "-c", words)
    assert said == "R000_NCDEF_FAT 10.2.64.220 R00-M0-NF-4 10.2.64.64\n"


def test_nuttcp_serves_in_the_blocks_that_match(lab: Tool) -> None:
    assert "starting nuttcp -S" in lab("console", "R00-M0-ND-4").stdout
    assert "nuttcp" in lab.on("R00-M0-ND-4", "ps")


@pytest.mark.parametrize(
    ("command", "said"),
    {
        "bglallocate NOBLOCK me": "there is no block NOBLOCK; the blocks are R000_N0123 ",
        "bglallocate R000_NCDEF_FAT me": "R000_NCDEF_FAT is allocated already, to root",
        "bglallocate R000 me": "is in block R000_NCDEF_FAT, which is allocated",
        "bglallocate R000_N0123 me": "block R000_N0123 has no I/O node that this machine has",
        "bgldeallocate R001": "block R001 has no I/O node that this machine has",
        "bglpower on R77": "there is no I/O node R77",
        "bglpower blink R00-M0-NC-3": "usage: bglpower on|off|reset NODE...",
    }.items(),
)
def test_a_wrong_question_is_refused_and_changes_nothing(lab: Tool, command: str, said: str) -> None:
    (row,) = json.loads(lab("exec", "--json", "SN", "--", *command.split()).stdout)
    assert (row["rc"], said in row["stderr"]) == (2, True), row
    assert "8     8  root" in lab.on("SN", "bglblocks")


def test_a_node_without_a_console_is_refused(lab: Tool) -> None:
    done = lab("console", "nsd01")
    assert (done.returncode, "nsd01 has no console" in done.stderr) == (2, True)


def passed(tool: Tool, play: str, site: Path, data: dict[str, Any]) -> list[str]:
    """A play (a file) or scenario (its name) on a site of its own, which must pass; what it compared."""
    site.write_text(yaml.safe_dump(data, sort_keys=False))
    words = [play, "--clock", "virtual", "--lab", str(site), "--json"]
    done = tool("run", *words, timeout_s=3600)
    assert done.stdout, done.stderr
    (found,) = json.loads(done.stdout)["scenarios"]
    assert found["verdict"] == "pass", (found["why"], [c for c in found["comparisons"] if not c["ok"]])
    return [c["what"] for c in found["comparisons"]]


@pytest.mark.night
@pytest.mark.parametrize(("block", "booted"), {"R000_N0123": "R000_N0123", "R001": "R001_NF"}.items())
def test_the_redpapers_blocks_boot_on_a_site_that_has_their_nodes(
    tool: Tool, tmp_path: Path, block: str, booted: str
) -> None:
    data = with_block(yaml.safe_load(JUBL.read_text()), block, booted)
    assert f"bglallocate {block} someuser" in passed(tool, f"{PLAYS}/published_blocks.py", tmp_path / "site.yaml", data)


@pytest.mark.night
def test_the_larger_a_block_the_more_of_its_nodes_lose_the_race(tool: Tool, tmp_path: Path) -> None:
    data = larger(yaml.safe_load(RACE.read_text()), 64)
    assert "some of 64 are stale, not all" in passed(tool, f"{PLAYS}/race_by_size.py", tmp_path / "site.yaml", data)


@pytest.mark.night
@pytest.mark.parametrize("most", (64, 128))
def test_nodes_of_larger_blocks_are_reported_that_run(tool: Tool, tmp_path: Path, most: int) -> None:
    data = with_racks(yaml.safe_load(RACE.read_text()), most)
    assert "states of their daemons" in passed(tool, "startup_race", tmp_path / "site.yaml", data)


def test_a_blocks_life(on_jubl: Played) -> None:
    on_jubl.passed("block_life")
