"""What a site's links carried over a run, as the drawing's page takes it."""

from typing import Any

from causeway.errors import BadInput
from causeway.model.site import Site
from causeway.render.drawing.data import data_part
from causeway.render.drawing.parts import Edge, Parts
from causeway.report.load import Load


def load_part(site: Site, load: Load) -> str:
    """An element of HTML that stands before the drawing on its page, which then has a slider; "" where all was quiet.

    BadInput where ports are recorded that the site has not.
    """
    return data_part("load", _data(site, load)) if load.samples else ""


def _data(site: Site, load: Load) -> dict[str, Any]:
    """`ports`: of each, the number of its edge, of its line in that, and its rate; `samples` and `marks` by time."""
    lines = {port: place for edge in Parts(site).edges for port, place in _lines(site, edge).items()}
    unknown = {port for sample in load.samples for port in sample.sent_mbit} - lines.keys()
    if unknown:
        raise BadInput(
            f"the run was played on another site than this {site.name}: {', '.join(sorted(unknown)[:3])}"
            " are not in it; name the site that it was played on, with --count as then"
        )
    return {
        "ports": lines,
        "samples": [[sample.at_s, sample.sent_mbit] for sample in load.samples],
        "marks": [[mark.at_s, mark.what] for mark in load.marks],
    }


def _lines(site: Site, edge: Edge) -> dict[str, tuple[int, int, int]]:
    """Of an edge's ports: its number, the line that stands for the port's cable, and what the wire carries from it."""
    return {
        str(port): (edge.number, place % edge.lines, site.sends_mbit(port))
        for place, cable in enumerate(edge.cables)
        for port in cable.ends
    }
