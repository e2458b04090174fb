"""The Redpaper's blocks on sites that have them: their I/O nodes, addresses, and how many are powered."""

from pathlib import Path

import pytest
import yaml

from causeway.model.load import load_site
from causeway.model.pools.bluegene import BlueGene, block_nodes
from causeway.model.site import Site
from tests.sites.blocks import JUBL, with_block


def site_of(folder: Path, block: str, booted: str = "") -> Site:
    file = folder / "site.yaml"
    file.write_text(yaml.safe_dump(with_block(yaml.safe_load(JUBL.read_text()), block, booted), sort_keys=False))
    return load_site(file)


def nodes_of(site: Site, block: str) -> list[str]:
    pool = site.topology.pools["io"]
    assert isinstance(pool, BlueGene)
    return block_nodes(pool, block, site.diskless())


@pytest.mark.parametrize(("block", "nodes", "powered"), [("R000_N0123", 4, 7), ("R001", 16, 31), ("R001_NF", 1, 1)])
def test_a_site_has_all_of_a_block_and_few_others(tmp_path: Path, block: str, nodes: int, powered: int) -> None:
    site = site_of(tmp_path, block)
    assert (len(nodes_of(site, block)), len(site.diskless())) == (nodes, powered)


def test_places_have_the_papers_addresses(tmp_path: Path) -> None:
    small, midplane = site_of(tmp_path, "R000_N0123"), site_of(tmp_path, "R001", "R001_NF")
    assert nodes_of(small, "R000_N0123") == [f"R00-M0-N{card}-4" for card in range(4)]
    assert str(small.known_by("R00-M0-N0-4").address) == "10.2.64.34"  # the paper's ...666.34 is r00-m0-n0-4
    assert nodes_of(midplane, "R001_NF") == ["R00-M1-NF-4"]
    assert str(midplane.known_by("R00-M1-NF-4").address) == "10.2.64.96"


def test_a_lab_may_come_up_with_a_smaller_block_than_it_has(tmp_path: Path) -> None:
    site = site_of(tmp_path, "R001", "R001_NF")
    up = [node for node in site.diskless() if site.comes_up(node)]
    assert (up, len(nodes_of(site, "R001"))) == (["R00-M1-NF-4"], 16)
