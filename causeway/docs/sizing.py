"""The page of the storage building blocks, from their catalogue, around a text that stands beside this file."""

from collections.abc import Iterator
from pathlib import Path

from causeway.docs.markdown import page_from, table
from causeway.plan import published, sizing
from causeway.plan.published import place
from causeway.plan.sizing import Link, Size, catalogue, servers_for

TEXT = Path(__file__).with_name("sizing.md")
_TIERS = "block|tiers|write, MB/s|read, MB/s|written a tier|write, IOP/s|read, IOP/s|servers by LAN|servers by SAN"


def sizing_page() -> str:
    """What there is, what one of each gives, and what the seed has printed beside what is computed."""
    parts = {
        "blocks": table("block|servers|disks|write, MB/s|read, MB/s|usable, TB", _blocks()),
        "links": table("link|MB/s|to count on|ports", _links()),
        "tiers": table(_TIERS, _tiers()),
        "cells": table("what (page)|printed|computed|comes out", _cells()),
        "contradictions": table("name|what|the numbers, and where|taken", _contradictions()),
        "passages": table("of|number|passage", _passages()),
    }
    return page_from(TEXT, {name: lines[:-1] for name, lines in parts.items()}, sizing.FILE, published.FILE)


def _blocks() -> Iterator[list[str]]:
    for name, block in catalogue().blocks.items():
        one = Size(name)
        raid = f"{block.disks}, {block.data}+{block.parity}P"
        usable = "not given" if one.usable_tb is None else f"{one.usable_tb:g}"
        rates = [f"{one.write.write_mb_s:g} ({one.write.name})", f"{one.read.read_mb_s:g} ({one.read.name})"]
        yield [f"`{name}`", f"{block.servers}: {block.lan}, {block.san}", raid, *rates, usable]


def _links() -> Iterator[list[str]]:
    for name, link in catalogue().links.items():
        yield [f"`{name}`", f"{link.rate_mb_s:g}", f"{link.needed_mb_s:g}", str(link.ports)]


def _tiers() -> Iterator[list[str]]:
    for name in catalogue().blocks:
        one = Size(name)
        for tiers, gave in one.block.tiers.items():
            rates = [f"{gave.write_mb_s:g}", f"{gave.read_mb_s:g}", f"{gave.write_mb_s / tiers:.1f}"]
            rates += ["not given" if iops is None else f"{iops:g}" for iops in (gave.write_iops, gave.read_iops)]
            rate = max(gave.write_mb_s, gave.read_mb_s)
            yield [f"`{name}`", str(tiers), *rates, *(str(servers_for(rate, link)) for link in (one.lan, one.san))]


def _cells() -> Iterator[list[str]]:
    for cell in published.published().cells:
        yield [place(cell.says), cell.printed, cell.ours, "yes" if cell.agrees else f"no: {cell.but}"]


def _contradictions() -> Iterator[list[str]]:
    for name, one in published.published().contradictions.items():
        figures = "; ".join(f"**{figure.printed}**: {place(figure.says)}" for figure in one.figures)
        yield [name, f"{one.about} ({', '.join(one.blocks)})", figures, one.takes]


def _passages() -> Iterator[list[str]]:
    known = catalogue()
    things: dict[str, Link | sizing.Block] = {**known.links, **known.blocks}
    for name, thing in things.items():
        for number, says in thing.says.items():
            yield [f"`{name}`", number, place(says)]
