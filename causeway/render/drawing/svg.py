"""The drawing as SVG: lines as wide as their rate, channels with their members and with each end's policy."""

import xml.etree.ElementTree as ET

from causeway.model.site import Site
from causeway.render.drawing.layout import PITCH, SWING, Layout, Place, layout
from causeway.render.drawing.parts import Edge, Parts
from causeway.render.graph import rate_words

#: The widest line, in pixels; others in proportion to their rate, but none thinner than the other.
_WIDEST, _THINNEST = 5.0, 0.8
#: Of networks, in turn: told apart by most who see some colours only, on light and on dark.
_COLOURS = ("#3b73b9", "#c2571a", "#2e8b57", "#8e5bb5", "#a8871c", "#c0437f", "#2a95a5", "#7a7a7a")
_STYLE = """
svg.site { font: 11px system-ui, sans-serif; color: #1c2430; background: #fff; }
svg.site text { fill: currentColor; }
svg.site .cluster rect { fill: currentColor; fill-opacity: .05; stroke: currentColor; stroke-opacity: .3; }
svg.site .cluster text { font-weight: 600; }
svg.site .node rect { fill: #fff; stroke: currentColor; }
svg.site .node.joins rect { rx: 9px; }
svg.site .edge path { fill: none; }
svg.site .edge text { font-size: 9px; paint-order: stroke; stroke: #fff; stroke-width: 3px; }
svg.site .edge ellipse { fill: none; stroke: currentColor; }
@media (prefers-color-scheme: dark) {
  svg.site { color: #e4e8ee; background: #1a2028; }
  svg.site .node rect { fill: #1a2028; }
  svg.site .edge text { stroke: #1a2028; }
}
"""


def svg(site: Site) -> str:
    """The drawing as a file of its own."""
    return inline(site).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"


def inline(site: Site) -> str:
    """The drawing as a part of an HTML page, which needs no name space. Each edge has its number, each box its name."""
    parts = Parts(site)
    placed = layout(parts)
    legend = 18.0 * (len(site.topology.networks) + 1)
    size = f"{placed.width:.0f} {placed.height + legend:.0f}"
    root = ET.Element("svg", {"class": "site", "viewBox": f"0 0 {size}", "role": "img"})
    root.set("style", f"max-width: {placed.width:.0f}px")
    ET.SubElement(root, "title").text = f"Site {site.name}"
    ET.SubElement(root, "style").text = _STYLE
    for name, place in placed.frames.items():
        group = ET.SubElement(root, "g", {"class": "cluster", "data-name": name})
        _rectangle(group, place, 8)
        _text(group, place.x + 8, place.y + 15, name)
    colours = {name: _COLOURS[number % len(_COLOURS)] for number, name in enumerate(site.topology.networks)}
    fastest = max((edge.rate_mbit for edge in parts.edges), default=1)
    for edge in parts.edges:
        _edge(root, edge, placed, colours[edge.cables[0].network], max(_THINNEST, _WIDEST * edge.rate_mbit / fastest))
    for box in parts.boxes.values():
        node, place = site.nodes[box.nodes[0]], placed.boxes[box.name]
        joins = " joins" if node.switch is not None or node.forwards else ""
        group = ET.SubElement(root, "g", {"class": f"node{joins}", "data-name": box.name})
        ET.SubElement(group, "title").text = box.about
        _rectangle(group, place, 3)
        _text(group, place.x + place.width / 2, place.middle + 4, box.label, anchor="middle")
    _legend(root, site, colours, placed.height, fastest)
    return ET.tostring(root, encoding="unicode")


def _edge(root: ET.Element, edge: Edge, placed: Layout, colour: str, width: float) -> None:
    cable = edge.cables[0]
    group = ET.SubElement(root, "g", {"class": f"edge {'channel' if edge.channel else 'link'}"})
    group.set("data-edge", str(edge.number))
    ET.SubElement(group, "title").text = _about(edge)
    starts, stops = placed.ports[edge.number, 0], placed.ports[edge.number, 1]
    for line, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        path = ET.SubElement(group, "path", {"d": _curve(start, stop), "stroke": colour})
        path.set("stroke-width", f"{width:.2f}")
        path.set("data-ends", " ".join(map(str, edge.cables[line].ends)))
    for end, ports in enumerate((starts, stops)):
        if edge.channel is None:
            continue
        bond = edge.channel.ends[end]
        x, y, side = ports[0][0], (ports[0][1] + ports[-1][1]) / 2, ports[0][2]
        ring = {"cx": x + side * 8, "cy": y, "rx": 2.5, "ry": PITCH * len(ports) / 2 + 1}
        ET.SubElement(group, "ellipse", {key: f"{value:.1f}" for key, value in ring.items()})
        words = f"{bond.name}: {bond.hash_policy}"
        _text(group, x + side * 14, y + 3, words, anchor="start" if side > 0 else "end")
    if len(edge.cables) > edge.lines:
        x, y, side = starts[0]
        _text(
            group,
            x + side * 14,
            y - 4,
            f"{len(edge.cables)} x {rate_words(cable)}",
            anchor="start" if side > 0 else "end",
        )


def _curve(start: tuple[float, float, int], stop: tuple[float, float, int]) -> str:
    """From one box to the other, leaving each at a right angle."""
    (x, y, out), (to_x, to_y, back) = start, stop
    bend = min(60 + abs(to_y - y) / 4, SWING) if out == back else abs(to_x - x) / 2
    return f"M{x:.1f} {y:.1f}C{x + out * bend:.1f} {y:.1f} {to_x + back * bend:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"


def _about(edge: Edge) -> str:
    cable = edge.cables[0]
    if edge.channel is None:
        many = f"{len(edge.cables)} like " if len(edge.cables) > 1 else ""
        return f"{many}{cable.a} to {cable.b}\nnetwork {cable.network}, {rate_words(cable)}"
    ends = [f"{e.node}:{e.name} sends by {e.hash_policy}: {' '.join(e.members)}" for e in edge.channel.ends]
    return "\n".join([f"channel in network {cable.network}, {edge.lines} x {rate_words(cable)}", *ends])


def _legend(root: ET.Element, site: Site, colours: dict[str, str], y: float, fastest: int) -> None:
    group = ET.SubElement(root, "g", {"class": "legend"})
    for name, network in site.topology.networks.items():
        ET.SubElement(group, "path", {"d": f"M28 {y:.0f}h36", "stroke": colours[name], "stroke-width": "3"})
        _text(group, 72, y + 4, f"network {name}: {network.subnet}, MTU {network.mtu}")
        y += 18
    _text(group, 28, y + 4, f"Lines are as wide as their rate; the widest carry {fastest} Mbit/s.")


def _rectangle(group: ET.Element, place: Place, round_by: float) -> None:
    size = {"x": place.x, "y": place.y, "width": place.width, "height": place.height, "rx": round_by}
    ET.SubElement(group, "rect", {key: f"{value:.1f}" for key, value in size.items()})


def _text(group: ET.Element, x: float, y: float, words: str, anchor: str = "start") -> None:
    where = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}
    ET.SubElement(group, "text", where).text = words
