"""What is collected from every node of a lab gives its site, in all that collecting can see; and that site comes up."""

import json
from pathlib import Path

from conftest import Played, Tool, unlike

from tests.sites.played import AS_DRAWN


def test_small_is_small_again_and_comes_up_as_it_says(on_small: Played, tool: Tool, tmp_path: Path) -> None:
    on_small.passed("collected")
    assert unlike(on_small.tool, "small", tmp_path / "mine") == []
    words = ["--lab", str(tmp_path / "mine" / "site.yaml"), "--clock", "virtual", "--seed", "1", "--json"]
    (scenario,) = json.loads(tool("run", str(AS_DRAWN), *words).stdout)["scenarios"]
    assert scenario["verdict"] == "pass", scenario["why"]


def test_xe_is_xe_again_with_its_fabric_and_its_numbers(on_xe: Played, tmp_path: Path) -> None:
    on_xe.passed("collected")
    assert unlike(on_xe.tool, "xe", tmp_path / "mine") == []
    assert (tmp_path / "mine" / "site.yaml").read_text().count("# ? which of these is wired to which?") == 6


def test_jubl_is_jubl_again_but_for_pools_and_filesystems(on_jubl: Played, tmp_path: Path) -> None:
    on_jubl.passed("collected")
    assert unlike(on_jubl.tool, "jubl", tmp_path / "mine") == []
    assert "- /home1, fuse.glusterfs of nsd01f: 10 nodes\n" in (tmp_path / "mine" / "about.md").read_text()
