"""What boots nodes that have one root, word by word.

tests/golden/xeboot/ holds the expected text, public keys replaced by KEY; after a change that is meant, rewrite it and
read the difference:

    UPDATE_GOLDEN=1 python -m pytest tests/golden/test_onesis.py && git diff tests/golden/xeboot
"""

import os
import re
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.render.secrets import Secrets
from causeway.render.site import render
from causeway.render.text import Files

REPO = Path(__file__).parents[2]
GOLDEN = REPO / "tests/golden/xeboot"
TEXT = (REPO / "topologies/xeboot/site.yaml").read_text()
HOME = "nodes/xe/var/lib/oneSIS"

EXACT = [
    "xeboot.clab.yml",
    "nodes/x1/ports",
    "nodes/xe/etc/dnsmasq.conf",
    "nodes/xe/etc/exports",
    "nodes/xe/etc/fstab",
    "nodes/xe/etc/onesis/nodes",
    "nodes/xe/etc/ssh/ssh_known_hosts",
    f"{HOME}/initrd/etc/legs",
    f"{HOME}/initrd/etc/root",
    f"{HOME}/root/etc/motd",
    f"{HOME}/root/etc/motd.oss",
    f"{HOME}/root/etc/resolv.conf",
    f"{HOME}/root/etc/sysctl.conf",
    f"{HOME}/root/etc/sysimage.conf",
]


def rendered(folder: Path, *replacements: tuple[str, str]) -> tuple[Site, Files]:
    """The site with some of its text replaced, and what is made of it."""
    text = TEXT
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new, 1)
    file = folder / "site.yaml"
    file.write_text(text)
    site = load_site(file)
    return site, render(site, Secrets(site))


def lines(files: Files, path: str) -> list[str]:
    return [line for line in files[path].text.splitlines() if line and not line.startswith("#")]


def test_golden_holds_no_other_files() -> None:
    there = {str(file.relative_to(GOLDEN)) for file in GOLDEN.rglob("*") if file.is_file()}
    assert there == set(EXACT)


@pytest.mark.parametrize("path", EXACT)
def test_rendered_text_is_the_golden_text(path: str, tmp_path: Path) -> None:
    text = re.sub(r"ssh-ed25519 [A-Za-z0-9+/=]+", "ssh-ed25519 KEY", rendered(tmp_path)[1][path].text)
    golden = GOLDEN / path
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.parametrize("root", ["ib0", "eth0"])
def test_each_node_may_read_the_root_and_write_what_is_its_own_by_the_network_of_its_root(
    root: str, tmp_path: Path
) -> None:
    site, files = rendered(tmp_path, ("root: ib0", f"root: {root}"))
    clients = [str(site.nodes[node].interfaces[root].address) for node in site.diskless()]
    own = dict(zip((str(site.known_by(node).address) for node in site.diskless()), clients, strict=True))
    for path, options, *those in (line.split() for line in lines(files, "nodes/xe/etc/exports")):
        address = path.removeprefix("/srv/nfs4/own/")
        due = ("rw", [own[address]]) if address in own else ("ro", clients)
        assert (options[1:].split(",")[0], those) == due, path
    said = dict(line.split("=") for line in lines(files, f"{HOME}/initrd/etc/root"))
    assert said == {"ROOT_DEVICE": root, "ROOT_SERVER": str(site.nodes["xe"].interfaces[root].address)}


def test_a_nodes_other_addresses_are_found_by_the_one_that_it_boots_with(tmp_path: Path) -> None:
    site, files = rendered(tmp_path)
    found = [line.split() for line in lines(files, f"{HOME}/initrd/etc/legs")]
    assert len(found) == len(site.diskless())
    for node, (boots, device, address) in zip(site.diskless(), found, strict=True):
        legs = site.nodes[node].interfaces
        assert (str(legs["eth0"].address), device) == (boots, "ib0")
        assert IPv4Address(address.removesuffix("/16")) == legs["ib0"].address


def test_on_a_disk_all_trees_share_its_room(tmp_path: Path) -> None:
    site, files = rendered(tmp_path, ("var_mib: 8}", "var_mib: 8, disk: {read_mb: 70, write_mb: 50}}"))
    table = [line.split("\t") for line in lines(files, "nodes/xe/etc/fstab")]
    kinds = {at: kind for _, at, kind, *_ in table}
    assert kinds["/var/lib/oneSIS"] == "disk" and f"size={8 * len(site.diskless()) + 128}," in table[0][3]
    assert all(kinds[f"/var/lib/oneSIS/own/{site.known_by(node).address}"] == "none" for node in site.diskless())


def test_the_site_may_say_routes_and_tunables_of_such_nodes(tmp_path: Path) -> None:
    more = "root: ib0\n    routes: [{to: 10.9.0.0/16, via: 10.0.10.1}]\n    sysctl: {net.ipv4.tcp_sack: 0}"
    files = rendered(tmp_path, ("root: ib0", more))[1]
    assert lines(files, f"{HOME}/root/etc/rc.d/routes") == ["ip route add 10.9.0.0/16 via 10.0.10.1"]
    assert "net.ipv4.tcp_sack = 0" in lines(files, f"{HOME}/root/etc/sysctl.conf")
