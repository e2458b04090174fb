"""What is drawn of a site: read back from the SVG and from the page."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from causeway.cli.app import main
from causeway.folders import site_file, sites
from causeway.model.document import Topology
from causeway.model.load import load_site
from causeway.model.site import Site, build_site
from causeway.plan.paths import path
from causeway.render.drawing.page import page, ways
from causeway.render.drawing.parts import Parts
from causeway.render.drawing.svg import inline, svg
from tests.sites.draw import draw

SVG = "{http://www.w3.org/2000/svg}"
SITES = {name: load_site(site_file(name)) for name in sites()}
SITES |= {f"drawn {seed}": build_site(Topology.model_validate(draw(seed))) for seed in (3, 7)}
JUBL = SITES["jubl"]


def parsed(site: Site) -> ET.Element:
    return ET.fromstring(svg(site))


def of_class(root: ET.Element, name: str) -> list[ET.Element]:
    return [one for one in root.iter(f"{SVG}g") if name in one.get("class", "").split()]


def ends(edge: ET.Element) -> list[str | None]:
    return [line.get("data-ends") for line in edge.findall(f"{SVG}path")]


def texts(part: ET.Element) -> list[str | None]:
    return [text.text for text in part.findall(f"{SVG}text")]


@pytest.mark.parametrize("name", SITES)
def test_every_cluster_node_link_and_channel_is_drawn_once(name: str) -> None:
    site, root = SITES[name], parsed(SITES[name])
    assert [one.get("data-name") for one in of_class(root, "cluster")] == list(site.topology.clusters)
    assert sorted(texts(one)[0] for one in of_class(root, "node")) == sorted(site.nodes)
    lines = Counter(line for edge in of_class(root, "edge") for line in ends(edge))
    assert lines == Counter(f"{cable.a} {cable.b}" for cable in site.cables)
    assert len(of_class(root, "channel")) == len(site.channels)


@pytest.mark.parametrize("name", SITES)
def test_a_channel_has_its_members_and_at_each_end_its_policy(name: str) -> None:
    site, drawn = SITES[name], of_class(parsed(SITES[name]), "channel")
    for channel, group in zip(site.channels, drawn, strict=True):
        assert len(ends(group)) == len(channel.ends[0].members)
        assert texts(group) == [f"{end.name}: {end.hash_policy}" for end in channel.ends]
        assert len(group.findall(f"{SVG}ellipse")) == 2
        said = group.findtext(f"{SVG}title") or ""
        assert all(member in said.split() for end in channel.ends for member in end.members)


@pytest.mark.parametrize("name", SITES)
def test_a_line_is_as_wide_as_its_rate_and_meets_both_its_boxes(name: str) -> None:
    site, root = SITES[name], parsed(SITES[name])
    boxes = {box.get("data-name"): box.find(f"{SVG}rect") for box in of_class(root, "node")}
    fastest = max(max(cable.rate_mbit) for cable in site.cables)
    cables = {f"{cable.a} {cable.b}": cable for cable in site.cables}
    for edge in of_class(root, "edge"):
        for line in edge.findall(f"{SVG}path"):
            cable = cables[line.get("data-ends", "")]
            assert float(line.get("stroke-width", "")) == pytest.approx(
                max(0.8, 5 * max(cable.rate_mbit) / fastest), abs=0.01
            )
            numbers = [float(n) for n in re.findall(r"-?\d+\.\d", line.get("d", ""))]
            for end, (x, y) in zip(cable.ends, (numbers[:2], numbers[-2:]), strict=True):
                box = boxes[end.node]
                assert box is not None
                left, top, width, height = (float(box.get(key, "")) for key in ("x", "y", "width", "height"))
                assert min(abs(x - left), abs(x - left - width)) <= 0.11
                assert top <= y <= top + height


@pytest.mark.parametrize("name", SITES)
def test_boxes_stand_apart_within_the_drawing_and_in_their_clusters_frame(name: str) -> None:
    site, root = SITES[name], parsed(SITES[name])
    _, _, wide, high = (float(n) for n in root.get("viewBox", "").split())

    def rectangle(group: ET.Element) -> tuple[float, float, float, float]:
        found = group.find(f"{SVG}rect")
        assert found is not None
        x, y, width, height = (float(found.get(key, "")) for key in ("x", "y", "width", "height"))
        return x, y, x + width, y + height

    boxes = {str(group.get("data-name")): rectangle(group) for group in of_class(root, "node")}
    frames = {group.get("data-name"): rectangle(group) for group in of_class(root, "cluster")}
    for one, (x1, y1, x2, y2) in boxes.items():
        assert 0 <= x1 < x2 <= wide and 0 <= y1 < y2 <= high
        cluster = site.nodes[one].cluster
        for frame, (left, top, right, bottom) in frames.items():
            inside = left <= x1 and x2 <= right and top <= y1 and y2 <= bottom
            assert inside == (frame == cluster)
        for other, (u1, v1, u2, v2) in boxes.items():
            assert one == other or x2 <= u1 or u2 <= x1 or y2 <= v1 or v2 <= y1


def test_what_is_not_there_is_not_drawn() -> None:
    """The same questions find a drawing that lacks something."""
    less = replace(JUBL, cables=JUBL.cables[1:])
    assert len(of_class(parsed(less), "edge")) == len(of_class(parsed(JUBL), "edge")) - 1


def test_a_pool_of_many_is_one_box_and_its_links_one_edge() -> None:
    root = parsed(load_site(site_file("jubl"), {"io": 288}))
    assert "io: 288" in [texts(one)[0] for one in of_class(root, "node")]
    (edge,) = (one for one in of_class(root, "edge") if texts(one) == ["288 x 1 Gbit/s"])
    assert (edge.findtext(f"{SVG}title") or "").startswith("288 like ")


def test_networks_have_colours_of_their_own_and_a_legend() -> None:
    root = parsed(JUBL)
    (legend,) = of_class(root, "legend")
    colours = [line.get("stroke") for line in legend.findall(f"{SVG}path")]
    assert len(set(colours)) == len(JUBL.topology.networks)
    assert "network b: 10.2.64.0/22, MTU 1500" in texts(legend)
    assert {line.get("stroke") for edge in of_class(root, "edge") for line in edge.findall(f"{SVG}path")} == set(
        colours
    )


def in_page(site: Site) -> tuple[str, dict[str, Any]]:
    text = page(site)
    data = text.split('<script type="application/json" id="ways">')[1].split("</script>")[0]
    return text, json.loads(data)


@pytest.mark.parametrize("name", SITES)
def test_the_page_has_the_drawing_and_every_way(name: str) -> None:
    site = SITES[name]
    text, data = in_page(site)
    assert inline(site) in text
    assert data == ways(site)
    assert {(a, b) for a in data for b in data[a]} == {(a, b) for a in site.nodes for b in site.nodes if a != b}
    edges = {edge.number: edge for edge in Parts(site).edges}
    for start, others in data.items():
        for stop, way in others.items():
            here = start
            for number in way.get("edges", []):  # each edge goes on where the last one ended
                assert here in edges[number].boxes
                (here,) = set(edges[number].boxes) - {here}
            assert way.get("why") or not way["edges"] or here == stop or stop in site.switches()
    assert all(f'data-edge="{number}"' in text for number in edges)


def test_a_way_is_the_plans_own_and_says_who_chooses_the_member() -> None:
    way = ways(JUBL)["nsd01"]["FEN"]
    hops = path(JUBL, "nsd01", JUBL.known_by("FEN").address).hops
    assert len(way["edges"]) == sum(len(hop.segments) for hop in hops)
    assert any(line.endswith("members of nsd01:bond0, chosen by layer3+4") for line in way["hops"])


def test_where_there_is_no_way_it_says_why() -> None:
    said = [way["why"] for others in ways(JUBL).values() for way in others.values() if "why" in way]
    assert said and all(said)


@pytest.mark.parametrize("draw_it", [svg, page])
def test_one_file_asks_nobody_for_anything(draw_it: Any) -> None:
    text = draw_it(JUBL).replace('xmlns="http://www.w3.org/2000/svg"', "")
    for outside in ("<link", "<img", "http:", "https:", "url(", " src=", "import "):
        assert outside not in text


def test_names_are_text_and_never_tags() -> None:
    data = draw(3)
    site = build_site(Topology.model_validate(data))
    odd = replace(
        site,
        nodes=site.nodes | {(n := next(iter(site.nodes))): site.nodes[n].model_copy(update={"role": "</script><b>&"})},
    )
    text, data = in_page(odd)
    assert "<b>" not in text and text.count("</script>") == 2
    ET.fromstring(svg(odd))


@pytest.mark.parametrize(("form", "begins"), [("svg", "<svg "), ("html", "<!DOCTYPE html>"), ("mermaid", "flowchart")])
def test_the_command_prints_the_form_that_is_asked_for(
    form: str, begins: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["graph", "small", "--format", form]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(begins) and err == ""
    assert main(["graph", "small", "--format", "png"]) == 2
