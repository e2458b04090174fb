"""Diskless I/O nodes: what an administrator sees on SN and on a console, and a block's life in virtual time."""

import json

import pytest
from conftest import Played, Tool


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


def test_a_blocks_life(on_jubl: Played) -> None:
    on_jubl.passed("block_life")
