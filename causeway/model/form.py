"""Take what has a bad form out of a site's file, so that the rest of it can be checked."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from causeway.model.document import Topology
from causeway.model.findings import ANY_NODE, Finding, Where
from causeway.model.pools import BY_PLATFORM, numbered
from causeway.model.topology import Cluster

#: pydantic error type -> remedy, where its own message does not say what would be right.
_REMEDIES = {
    "extra_forbidden": "remove it or correct its spelling",
    "missing": "add it",
    numbered.NO_COUNT: "add `count`, or list the names",
    "platform": f"use one of {', '.join(BY_PLATFORM)}",
}


#: What only says that something else has a bad form.
_FOLLOW = ("default_factory_not_called",)
#: Characters of a bad value that are shown.
_SHOWN = 200


class Form:
    """Parse a topology; take the smallest parts of bad form out, note them, parse what is left."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.findings: list[Finding] = []
        self._said: set[Where] = set()  # places, in the file, of findings
        self._around_gone: set[Where] = set()  # places, in the file, that something was taken out of
        self._kept: dict[Where, list[int]] = {}  # list -> places in the file of what is left of it
        self._gone: set[str] = set()  # what a finding may miss because of that

    def parse(self) -> Topology | None:
        while True:
            try:
                return Topology.model_validate(self.data)
            except ValidationError as error:
                drop: set[Where] = set()
                found = error.errors(include_url=False, include_context=False)
                items = [item | {"loc": _in_data(item["loc"])} for item in found if item["type"] not in _FOLLOW]
                misspelt = dict(_misspelt(items))
                missed = set(misspelt.values())
                for item in items:
                    if item["type"] == "missing" and item["loc"] in missed:
                        continue
                    loc = item["loc"]
                    here = _existing(self.data, loc if item["type"] != "missing" else loc[:-1])
                    if item["type"] == "platform":  # without it the pool would be of another one
                        item |= {"input": self.data["pools"][loc[1]]["platform"]}
                        self._note(item, (*self._place(here), "platform"), misspelt)
                    else:
                        self._note(item, self._place(here), misspelt)
                    drop.add(here)
                    if item["type"] == "extra_forbidden":  # a key that it may have been meant for is not missed
                        keys = [*Topology.model_fields, *Cluster.model_fields]
                        self._gone.update(get_close_matches(str(item["loc"][-1]), keys, n=1))
                if () in drop:
                    return None
                # the last of a list first: the places of the others stay as they are
                for here in sorted(drop, key=_depth_and_place, reverse=True):
                    self._take_out(here)

    def _note(self, item: Any, where: Where, misspelt: dict[Where, Where]) -> None:
        if where in self._around_gone:
            return  # what is missing there has been taken out
        remedy = _REMEDIES.get(item["type"], "give a value of that form")
        if item["loc"] in misspelt:
            remedy = f"did you mean {misspelt[item['loc']][-1]}?"
        # of a union every member complains about the same value: one is enough
        if item["type"] == "missing" or where not in self._said:
            self.findings.append(Finding(where, _sentence(item), remedy))
            self._said.add(where)

    def explains(self, finding: Finding) -> bool:
        """Whether a finding only says that something taken out is not there."""
        return not self._gone.isdisjoint(finding.mentions)

    def in_file(self, finding: Finding) -> Finding:
        return Finding(self._place(finding.where), finding.what, finding.remedy)

    def _place(self, where: Where) -> Where:
        """A path in what is left, as the path in the file."""
        place: Where = ()
        for step in where:
            if isinstance(step, int) and place in self._kept:
                step = self._kept[place][step]
            place += (step,)
        return place

    def _take_out(self, where: Where) -> None:
        parent: Any = self.data
        for step in where[:-1]:
            parent = parent[step]
        place = self._place(where)
        self._around_gone.update(place[:end] for end in range(len(place)))
        last = where[-1]
        self._gone |= {str(last), *_holds(parent[last])}
        if place[0] in ("nodes", "pools") and "interfaces" in place:
            self._gone.add(f"{place[1]}:*")
        if place[0] == "filesystems" and len(place) == 2:
            self._gone.add("filesystems:*")
        if place[0] == "pools" and len(place) < 4:
            pool = parent[last] if len(place) == 2 else parent
            self._gone |= {"pools", *_pools_nodes(pool)}
        if isinstance(parent, list) and isinstance(last, int):
            places = self._kept.setdefault(self._place(where[:-1]), list(range(len(parent))))
            places.pop(last)
        parent.pop(last)


def _in_data(loc: Where) -> Where:
    """A pydantic location without the platform that it names in a pool, which the file has as a key of its own."""
    return (*loc[:2], *loc[3:]) if loc[:1] == ("pools",) and len(loc) > 2 and loc[2] in BY_PLATFORM else loc


def _pools_nodes(pool: Any) -> Iterator[str]:
    """The nodes that a pool of bad form may have meant."""
    if isinstance(pool, dict):
        yield from numbered.meant(pool.get("names"), pool.get("count")) or [ANY_NODE]


def _depth_and_place(where: Where) -> tuple[int, int]:
    last = where[-1]
    return len(where), last if isinstance(last, int) else -1


def _holds(value: Any) -> Iterator[str]:
    """What others may refer to in a part of a topology: addresses, and ports as NODE:DEVICE."""
    if isinstance(value, dict):
        if "node" in value and "name" in value:
            yield f"{value['node']}:{value['name']}"
        yield from (str(v) for k, v in value.items() if k == "address")
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _holds(part)
    elif isinstance(value, str):  # also one with another sign in place of the colon
        port = value if ":" in value else re.sub(r"[\s.,;/=-]+", ":", value, count=1)
        if ":" in port:
            yield port


def _misspelt(items: list[Any]) -> Iterator[tuple[Where, Where]]:
    """Unknown keys that are, by their looks, missing ones of the same place."""
    missing = [item["loc"] for item in items if item["type"] == "missing"]
    for item in items:
        if item["type"] == "extra_forbidden":
            *place, key = item["loc"]
            names = [str(loc[-1]) for loc in missing if loc[:-1] == tuple(place)]
            for name in get_close_matches(str(key), names, n=1):
                yield item["loc"], (*place, name)


def _sentence(item: Any) -> str:
    if item["type"] == "extra_forbidden":
        return "unknown key"
    if item["type"] == numbered.NO_COUNT:
        return str(item["msg"])
    if item["type"] == "missing":
        return f"`{item['loc'][-1]}` is missing"
    value = repr(item["input"])
    shown = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}..."
    return f"{item['msg'][0].lower()}{item['msg'][1:]} (it is {shown})"


def _existing(data: Any, loc: Where) -> Where:
    """The longest part of a pydantic location that is a path in the data (unions add steps to it)."""
    where: Where = ()
    for step in loc:
        in_list = isinstance(data, list) and isinstance(step, int) and step < len(data)
        if not in_list and not (isinstance(data, dict) and step in data):
            break
        data = data[step]
        where += (step,)
    return where
