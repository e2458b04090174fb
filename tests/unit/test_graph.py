"""A site as data and as a Mermaid flowchart."""

import json
from pathlib import Path

from causeway.model.document import Topology
from causeway.model.load import load_site
from causeway.model.site import Site, build_site
from causeway.render.graph import as_data, mermaid

FILE = Path(__file__).parents[2] / "topologies/jubl/site.yaml"
JUBL = load_site(FILE)


def tiny(first: str, second: str) -> Site:
    """Two servers, one link."""
    leg = {"network": "n", "address": "10.0.0.1"}
    nodes = {
        name: {"role": "server", "interfaces": {"eth0": leg | {"address": f"10.0.0.{octet}"}}}
        for octet, name in enumerate((first, second), 1)
    }
    topology = {
        "lab": "tiny",
        "domain": "tiny.example",
        "networks": {"n": {"subnet": "10.0.0.0/24", "rate_mbit": 100}},
        "clusters": {},
        "nodes": nodes,
        "links": [{"ends": [f"{first}:eth0", f"{second}:eth0"]}],
    }
    return build_site(Topology.model_validate(topology))


def test_data_has_every_node_link_and_channel_and_is_json() -> None:
    data = as_data(JUBL)
    assert json.loads(json.dumps(data)) == data
    assert [node["name"] for node in data["nodes"]] == list(JUBL.nodes)
    assert {"name": "nsd01", "cluster": "JUMP", "role": "server"} in data["nodes"]
    assert {"name": "zam870", "cluster": None, "role": "switch"} in data["nodes"]
    assert {"ends": ["deisa:eth0", "zam870:deisa"], "network": "b", "rate_mbit": 1000, "delay_ms": 0} in data["links"]
    assert len(data["links"]) == 13 + 8
    assert len(data["channels"]) == 6


def test_a_channel_has_both_ends_with_members_and_policies() -> None:
    assert as_data(JUBL)["channels"][5] == {
        "ends": [
            {"node": "FEN", "name": "bond0", "members": ["eth6", "eth7"], "hash_policy": "layer2"},
            {"node": "zam870", "name": "FEN", "members": ["FEN-1", "FEN-2"], "hash_policy": "balance-slb"},
        ],
        "network": "b",
        "rate_mbit": 1000,
        "delay_ms": 0,
    }


def test_a_channels_cables_are_no_links() -> None:
    ends = {end for link in as_data(JUBL)["links"] for end in link["ends"]}
    assert not ends & {"nsd01:eth2", "zam870:nsd01-1", "FEN:eth6"}


def inside(text: str, cluster: str) -> list[str]:
    """The lines between a subgraph's head and its end."""
    return text.split(f'["{cluster}"]\n')[1].split("    end\n")[0].splitlines()


def test_each_cluster_is_a_subgraph_and_switches_and_the_router_stand_outside() -> None:
    text = mermaid(JUBL)
    assert text.startswith("flowchart LR\n")
    assert text.count("subgraph ") == text.count("\n    end\n") == 2
    assert len(inside(text, "JUMP")) == 6
    assert len(inside(text, "JUBL")) == 2 + 8
    outside = text.rpartition("    end\n")[2]
    assert '    n_zam870{{"zam870<br>switch, network b"}}\n' in outside
    assert '    n_deisa{{"deisa<br>router, network m"}}\n' in outside


def test_a_channel_is_one_thick_edge_with_both_policies() -> None:
    text = mermaid(JUBL)
    assert '    n_nsd01 ===|"b, 4 x 1 Gbit/s<br>layer3+4 / balance-slb"| n_zam870\n' in text
    assert '    n_FEN ===|"b, 2 x 1 Gbit/s<br>layer2 / balance-slb"| n_zam870\n' in text
    assert text.count("===") == 6


def test_a_link_is_labelled_with_its_network_and_rate() -> None:
    text = mermaid(JUBL)
    assert '    n_nsd01 ---|"f, 16 Gbit/s"| n_federation\n' in text
    assert '    n_deisa ---|"b, 1 Gbit/s"| n_zam870\n' in text
    assert '---|"n, 100 Mbit/s"|' in mermaid(tiny("one", "two"))


def test_twelve_io_nodes_are_drawn_each_and_thirteen_as_one_box() -> None:
    assert mermaid(load_site(FILE, {"io": 12})).count("n_R00_") == 2 * 12
    text = mermaid(load_site(FILE, {"io": 13}))
    assert "n_R00_" not in text
    assert '        n_io__all["io: 13 x ion<br>R00-M0-NC-3 ... R00-M1-N2-3"]' in inside(text, "JUBL")
    assert text.count(' ---|"b, 13 x 1 Gbit/s"| n_zam870\n') == 1


def test_288_io_nodes_are_one_box_and_one_edge() -> None:
    few, many = (mermaid(load_site(FILE, {"io": count})).splitlines() for count in (13, 288))
    assert len(few) == len(many)
    assert any("io: 288 x ion" in line for line in many)


def test_every_edge_joins_boxes_that_are_drawn() -> None:
    for site in (JUBL, load_site(FILE, {"io": 288})):
        lines = mermaid(site).splitlines()
        boxes = {line.split("[")[0].split("{{")[0].strip() for line in lines if line.strip().endswith(("]", "}}"))}
        for line in lines:
            if "|" in line:
                head, _, tail = line.split("|")
                assert {head.split()[0], tail.strip()} <= boxes


def test_node_names_that_are_words_of_mermaid_are_no_trouble() -> None:
    text = mermaid(tiny("end", "subgraph"))
    assert '    n_end["end"]\n' in text
    assert '    n_end ---|"n, 100 Mbit/s"| n_subgraph\n' in text
