"""What `watch` shows: one look at a lab as lines of the terminal's width, and the rates that two looks give."""

import textwrap
from collections import deque
from collections.abc import Iterator
from typing import Any

from rich.text import Text

from causeway.lab.probes.load import rates
from causeway.model.site import Site

_MINUTE_S = 60
#: How long the bar of a link is that carries all that it can; and what stands beside its name, bar and all.
_BAR, _BESIDE = 10, 41
#: The least that is shown of a link's ends; how many lines names of a kind take at most where there is little room.
_NAME, _MOST = 12, 3


class Rates:
    """What links carried between looks."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._looks: deque[tuple[float, dict[str, int]]] = deque()

    def add(self, glance: dict[str, Any]) -> dict[str, Any] | None:
        """A look with the rates of links since the one before it, and since the oldest one of the last minute.

        None of the first one, and of the first one after the lab has gone back to a checkpoint. `links` has them by the
        cables' ends, in Mbit/s on the wire; a port that is not there has none.
        """
        at_s, sent = float(glance["at_s"]), glance["sent_bytes"]
        if self._looks and self._looks[-1][0] >= at_s:
            self._looks.clear()
        while len(self._looks) > 1 and self._looks[0][0] < at_s - _MINUTE_S:
            self._looks.popleft()
        looks, before = list(self._looks), self._looks[-1] if self._looks else None
        self._looks.append((at_s, sent))
        if before is None:
            return None
        since = at_s - before[0], at_s - looks[0][0]
        now, minute = (rates(old, sent, s) for (_, old), s in ((before, since[0]), (looks[0], since[1])))
        shown = {key: value for key, value in glance.items() if key != "sent_bytes"}
        return shown | {
            "now_s": round(since[0], 3),
            "minute_s": round(since[1], 3),
            "links": [
                {
                    "from": str(port),
                    "to": str(other),
                    "network": cable.network,
                    "rate_mbit": self._site.sends_mbit(port),
                    "now_mbit": _rounded(now.get(str(port))),
                    "minute_mbit": _rounded(minute.get(str(port))),
                }
                for cable in self._site.cables
                for port, other in (cable.ends, cable.ends[::-1])
            ],
        }


def _rounded(mbit: float | None) -> float | None:
    return None if mbit is None else round(mbit, 3)


def lines(look: dict[str, Any], width: int, height: int | None) -> list[Text]:
    """The whole look; with a height, of links the busiest now and of names the first, as many as there is room for."""
    most = None if height is None else _MOST
    faults = [f"{fault['id']} {fault['name']}" for fault in look["faults"]]
    found = [
        Text(f"{look['lab']}, clock {look['clock']}, at {look['at_s']:.1f} s", style="bold"),
        *_wrapped("NOT RESTORED after ", look["not_restored"], width, most, "bold red"),
        *_nodes(look["nodes"], width, most),
        *_wrapped("faults: ", faults or ["none"], width, most, "bold red" if faults else ""),
        *(line for name, nodes in look["mounts"].items() for line in _mounted(name, nodes, width, most)),
        *_channels(look["channels"], width, most),
    ]
    head = f"links, the busiest first (Mbit/s in the last {look['now_s']:.1f} s, {look['minute_s']:.0f} s)"
    found.append(Text(head[:width], style="bold"))
    links = [link for link in look["links"] if link["now_mbit"] is not None]
    links.sort(key=lambda link: (-link["now_mbit"] / link["rate_mbit"], -link["minute_mbit"]))
    room = len(links) if height is None else max(1, height - len(found) - 1)
    wide = max((len(f"{link['from']} > {link['to']}") for link in links), default=0)
    found += [_link(link, max(_NAME, min(wide, width - _BESIDE)), width) for link in links[:room]]
    return found if height is None else found[: height - 1]


def _wrapped(head: str, words: list[str], width: int, most: int | None, style: str = "") -> Iterator[Text]:
    """Words behind a head, in as many lines as they take, or may take at most."""
    if words:
        wrapper = textwrap.TextWrapper(width, subsequent_indent=" " * min(len(head), 12), break_on_hyphens=False)
        wrapper.max_lines, wrapper.placeholder = most, " ..."
        text = wrapper.wrap(head + ", ".join(words))
        yield from (Text(line, style=style) for line in text)


def _nodes(states: dict[str, str], width: int, most: int | None) -> Iterator[Text]:
    """Those that are up by their number, all others by name."""
    up = [node for node, state in states.items() if state.startswith("up")]
    yield Text(f"nodes up: {len(up)} of {len(states)}")
    others: dict[str, list[str]] = {}
    for node, state in states.items():
        if not state.startswith("up"):
            others.setdefault(state, []).append(node)
    for state, nodes in others.items():
        yield from _wrapped(f"{state}: ", nodes, width, most, "bold red" if state != "off" else "")


def _mounted(filesystem: str, nodes: list[str], width: int, most: int | None) -> Iterator[Text]:
    return _wrapped(f"{filesystem} is mounted on {len(nodes)}: ", nodes, width, most)


def _channels(ends: list[dict[str, Any]], width: int, most: int | None) -> Iterator[Text]:
    """Those that are whole in few lines, each of the others in one of its own."""
    whole = [
        f"{e['node']}:{e['name']} {len(e['members'])}" for e in ends if e["negotiated"] and all(e["members"].values())
    ]
    if ends:
        yield from _wrapped(f"channels with all members: {len(whole)} of {len(ends)}: ", whole or ["none"], width, most)
    for end in ends:
        lost = [member for member, up in end["members"].items() if not up]
        said = f"{end['node']}:{end['name']} to {end['peer']}: "
        if end["negotiated"] is None:
            yield from _wrapped(said, ["says nothing"], width, most, "bold red")
        elif lost or not end["negotiated"]:
            up = [member for member in end["members"] if member not in lost]
            words = [f"up {' '.join(up) or 'none'}", f"DOWN {' '.join(lost)}" if lost else "not negotiated"]
            yield from _wrapped(said, words, width, most, "bold red")


def _link(link: dict[str, Any], wide: int, width: int) -> Text:
    share = link["now_mbit"] / link["rate_mbit"]
    name = f"{link['from']} > {link['to']}"
    name = name if len(name) <= wide else f"{name[: wide - 1]}~"
    bar = "#" * round(_BAR * min(share, 1.0))
    text = f"{name:{wide}} {link['now_mbit']:9.1f} {link['minute_mbit']:9.1f} {100 * share:5.1f} % {bar}"
    style = "red" if share > 0.9 else "yellow" if share > 0.5 else "" if share > 0.001 else "dim"
    return Text(text[:width].rstrip(), style=style)
