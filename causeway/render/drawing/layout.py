"""Where everything stands: hosts outside, what joins them in the middle, clusters left and right in turn.

Five columns: hosts of the left clusters, their switches and routers, those of no cluster, and the same on the right.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from causeway.render.drawing.parts import Box, Edge, Parts

#: Pixels: a line's place at a box, a box's least height, the room between two, between columns, around a cluster.
PITCH, HEIGHT, GAP, BETWEEN, MARGIN = 6.0, 24.0, 10.0, 240.0, 14.0
#: How far a line between two boxes of one column swings out at most, and the room that it needs on the right.
SWING = 140.0
#: Of the widest letter that a label may have.
_LETTER = 7.0
_MIDDLE = 2


@dataclass
class Place:
    """A rectangle, in pixels from the upper left corner; of a box also its column."""

    x: float
    y: float
    width: float
    height: float
    column: int = 0

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@dataclass
class Layout:
    """The places of the boxes and of the clusters' frames, and where each line of an edge meets its two boxes."""

    boxes: dict[str, Place]
    frames: dict[str, Place]
    width: float
    height: float
    ports: dict[tuple[int, int], list[tuple[float, float, int]]] = field(default_factory=dict)
    """(edge, end 0 or 1) -> for each of its lines x, y, and 1 where it leaves to the right, -1 to the left."""


def layout(parts: Parts) -> Layout:
    """The places of a site's parts."""
    column = _columns(parts)
    sides = _sides(parts, column)
    height = {
        name: max(HEIGHT, 8 + PITCH * max(sum(edge.lines for edge, _ in at) for at in (*sides[name].values(), [])))
        for name in parts.boxes
    }
    width = max((len(box.label) for box in parts.boxes.values()), default=1) * _LETTER + 16
    boxes: dict[str, Place] = {}
    for wanted in ((0, 4), (1, 3), (_MIDDLE,)):  # from the outside: who joins others stands where those are
        for number in wanted:
            _fill(parts, number, [n for n in parts.boxes if column[n] == number], height, width, boxes)
    _part(parts, boxes)
    _squeeze(boxes)
    top = min((place.y for place in boxes.values()), default=0) - 2 * MARGIN - 12
    for place in boxes.values():
        place.y -= top
    right = max((place.x + place.width for place in boxes.values()), default=0) + 2 * MARGIN
    if any(
        len({boxes[name].x for name in edge.boxes}) == 1 and column[edge.boxes[0]] == _MIDDLE for edge in parts.edges
    ):
        right += SWING
    bottom = max((place.y + place.height for place in boxes.values()), default=0) + 2 * MARGIN
    made = Layout(boxes, _frames(parts, boxes), right, bottom)
    for name, at in sides.items():
        for side, ends in at.items():
            _meet(made, name, side, ends)
    return made


def _columns(parts: Parts) -> dict[str, int]:
    clusters = list(parts.site.topology.clusters)

    def of(box: Box) -> int:
        if box.cluster not in clusters:
            return _MIDDLE
        node = parts.site.nodes[box.nodes[0]]
        joins = int(node.switch is not None or node.forwards)
        return joins if clusters.index(box.cluster) % 2 == 0 else 4 - joins

    return {name: of(box) for name, box in parts.boxes.items()}


def _sides(parts: Parts, column: dict[str, int]) -> dict[str, dict[int, list[tuple[Edge, int]]]]:
    """Box -> side (1 right, -1 left) -> the ends of edges that leave there."""
    sides: dict[str, dict[int, list[tuple[Edge, int]]]] = {name: {1: [], -1: []} for name in parts.boxes}
    for edge in parts.edges:
        here, there = (column[name] for name in edge.boxes)
        for end, (mine, other) in enumerate(((here, there), (there, here))):
            inwards = 1 if mine <= _MIDDLE else -1
            sides[edge.boxes[end]][inwards if mine == other else 1 if other > mine else -1].append((edge, end))
    return sides


def _fill(
    parts: Parts, column: int, names: list[str], height: dict[str, float], width: float, boxes: dict[str, Place]
) -> None:
    """Put a column's boxes one below the other around the height 0, one cluster after the other."""
    joined: dict[str, list[float]] = defaultdict(list)
    for edge in parts.edges:
        for one, other in (edge.boxes, edge.boxes[::-1]):
            if other in boxes:
                joined[one].append(boxes[other].middle)
    clusters = list(parts.site.topology.clusters)

    def order(name: str) -> tuple[int, float]:
        cluster = parts.boxes[name].cluster
        heights = joined[name] if column not in (0, 4) else []
        return clusters.index(cluster) if cluster in clusters else 0, sum(heights) / len(heights) if heights else 0.0

    # those in the middle are few, and their lines many: they stand wide apart
    room = GAP if column in (0, 4) else 4 * GAP
    y, last = 0.0, None
    for name in sorted(names, key=order):
        if last is not None and parts.boxes[name].cluster != last:
            y += 4 * MARGIN
        boxes[name] = Place(column * (width + BETWEEN) + 2 * MARGIN, y, width, height[name], column)
        y, last = y + height[name] + room, parts.boxes[name].cluster
    for name in names:
        boxes[name].y -= (y - room) / 2


def _part(parts: Parts, boxes: dict[str, Place]) -> None:
    """Move clusters of one side down that would reach into the one above: their columns are filled one by one."""
    clusters = list(parts.site.topology.clusters)
    for side in (clusters[::2], clusters[1::2]):
        above: float | None = None
        for cluster in side:
            mine = [boxes[name] for name, box in parts.boxes.items() if box.cluster == cluster]
            if not mine:
                continue
            top = min(place.y for place in mine)
            move = max(0.0, above + 3 * MARGIN - top) if above is not None else 0.0
            for place in mine:
                place.y += move
            above = max(place.y + place.height for place in mine)


def _squeeze(boxes: dict[str, Place]) -> None:
    """Take out the columns in which nothing stands."""
    used = sorted({place.x for place in boxes.values()})
    for place in boxes.values():
        place.x = 2 * MARGIN + used.index(place.x) * (place.width + BETWEEN)


def _frames(parts: Parts, boxes: dict[str, Place]) -> dict[str, Place]:
    found = {}
    for cluster in parts.site.topology.clusters:
        mine = [boxes[name] for name, box in parts.boxes.items() if box.cluster == cluster]
        if mine:
            left, top = min(p.x for p in mine) - MARGIN, min(p.y for p in mine) - MARGIN - 12
            right, bottom = max(p.x + p.width for p in mine) + MARGIN, max(p.y + p.height for p in mine) + MARGIN
            found[cluster] = Place(left, top, right - left, bottom - top)
    return found


def _meet(made: Layout, name: str, side: int, ends: list[tuple[Edge, int]]) -> None:
    """Deal the places on one side of a box out to its edges, in the order of the heights that they come from."""
    place = made.boxes[name]
    ends = sorted(ends, key=lambda item: made.boxes[item[0].boxes[1 - item[1]]].middle)
    y = place.middle - PITCH * (sum(edge.lines for edge, _ in ends) - 1) / 2
    x = place.x + place.width if side > 0 else place.x
    for edge, end in ends:
        made.ports[edge.number, end] = [(x, y + PITCH * line, side) for line in range(edge.lines)]
        y += PITCH * edge.lines
