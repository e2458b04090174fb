"""What rules say of a site's file, and how they suggest what would be right."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import IPv4Network

#: A place in the file: keys and places in lists, from the outermost on.
Where = tuple[str | int, ...]


@dataclass(frozen=True)
class Finding:
    """A violated rule; `mentions` are the names whose absence it complains about."""

    where: Where
    what: str
    remedy: str
    mentions: tuple[str, ...] = ()


def one_of(name: str, known: Iterable[str]) -> str:
    """The remedy for a name that is none of those known."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    if len(names) > 12:
        names = [*names[:4], "..."]
    return f"did you mean {close[0]}?" if close else f"use one of {', '.join(names) or '(none)'}"


#: What is gone with a pool of which nobody can tell the nodes.
ANY_NODE = "pools:names"


def unknown(where: Where, kind: str, name: str, known: Iterable[str]) -> Finding:
    """A name that nothing has."""
    mentions = (name, ANY_NODE) if kind.startswith("node") else (name,)
    return Finding(where, f"there is no {kind} {name!r}", one_of(name, known), mentions)


def within(subnet: IPv4Network) -> str:
    """The remedy for an address that is not in its network."""
    return f"use an address from {subnet[1]} to {subnet[-2]}"
