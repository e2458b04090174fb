"""The drawing as a page without a server: whoever clicks two nodes is shown the way there and the way back.

A run's load, where it is there, gets a slider over its time.
"""

from typing import Any

from causeway.model.site import Site
from causeway.plan.delays import one_way_ms
from causeway.plan.paths import Ambiguous, Path, Unreachable, Ways
from causeway.render.drawing.data import data_part
from causeway.render.drawing.load import load_part
from causeway.render.drawing.parts import Parts
from causeway.render.drawing.svg import inline
from causeway.render.text import fill
from causeway.report.load import Load


def page(site: Site, load: Load | None = None) -> str:
    """The whole page. BadInput where a load is another site's."""
    loaded = load_part(site, load) if load else ""
    return fill("templates/drawing.html.j2", name=site.name, drawing=loaded + element(site))


def element(site: Site) -> str:
    """The drawing as a part of a page, with its script, and with the ways between all boxes as data."""
    return fill("templates/drawing-part.html.j2", drawing=inline(site), ways=data_part("ways", ways(site)))


def ways(site: Site) -> dict[str, dict[str, Any]]:
    """From box to box: `edges`, the numbers of the edges of the way, and `hops`, what is said of it.

    The way is that to the address by which daemons know the box's first node; `why` says why there is none.
    """
    parts, every = Parts(site), Ways(site)
    found: dict[str, dict[str, Any]] = {name: {} for name in parts.boxes}
    for start, here in parts.boxes.items():
        for stop, there in parts.boxes.items():
            if start != stop:
                found[start][stop] = _way(every, parts, here.nodes[0], there.nodes[0])
    return found


def _way(every: Ways, parts: Parts, start: str, stop: str) -> dict[str, Any]:
    try:
        way = every.path(start, every.site.known_by(stop).address)
    except (Unreachable, Ambiguous, LookupError) as error:
        return {"why": str(error.args[0])}
    cables = [segment.cables[0] for hop in way.hops for segment in hop.segments]
    return {"edges": [parts.edge_of[cable.sender] for cable in cables], "hops": [*_hops(way), *_long(every, way)]}


def _long(every: Ways, way: Path) -> list[str]:
    """How long the way is, where its cables have a length."""
    return [f"under way for {ms:g} ms"] if (ms := one_way_ms(every.site, way)) else []


def _hops(way: Path) -> list[str]:
    """One line a hop; which end of a channel decides what takes which member is said with it."""
    lines = []
    for hop in way.hops:
        over = f" over {', '.join(hop.switches)}" if hop.switches else ""
        lines.append(f"{hop.sender} to {hop.receiver} in network {hop.network}{over}")
        for segment in hop.segments:
            if end := segment.decided_by:
                lines.append(f"one of {len(end.members)} members of {end.node}:{end.name}, chosen by {end.hash_policy}")
    return lines
