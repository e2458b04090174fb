"""The site of the race with larger blocks: their sizes, in the machine's order, each a part of the next."""

from pathlib import Path

import pytest
import yaml

from causeway.model.load import load_site
from causeway.model.pools.bluegene import BlueGene, block_nodes
from causeway.scenario.cast import Ask
from tests.sites.larger import BLOCKS, RACE, larger, with_racks


@pytest.mark.parametrize("most", BLOCKS)
def test_each_block_has_the_size_in_its_name_and_begins_as_the_next_does(tmp_path: Path, most: int) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(yaml.safe_dump(larger(yaml.safe_load(RACE.read_text()), most), sort_keys=False))
    site = load_site(file)
    pool = site.topology.pools["io"]
    assert isinstance(pool, BlueGene)
    powered = site.diskless()
    assert len(powered) == most
    for block in pool.blocks:
        assert block_nodes(pool, block, powered) == powered[: int(block[1:])]
    assert [node for node in powered if site.comes_up(node)] == powered[:4]
    assert not site.topology.filesystems


@pytest.mark.parametrize("most", [size for size in BLOCKS if size >= 8])
def test_with_filesystems_startup_race_is_played_with_the_large_block(tmp_path: Path, most: int) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(yaml.safe_dump(with_racks(yaml.safe_load(RACE.read_text()), most), sort_keys=False))
    site = load_site(file)
    cast = Ask(site).blocks(3, platform="bluegene", disk=True)
    assert [len(nodes) for nodes in cast.nodes.values()] == [2, 4, most]
    assert site.topology.filesystems and all(site.comes_up(node) for node in site.diskless())
