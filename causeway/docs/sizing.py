"""The page of the storage building blocks, from their catalogue, around a text that stands beside this file."""

from collections.abc import Iterator
from pathlib import Path

from causeway.docs.markdown import page_from, table
from causeway.plan.sizing import FILE, Need, catalogue, size

TEXT = Path(__file__).with_name("sizing.md")


def sizing_page() -> str:
    """What there is, and what one of each gives."""
    return page_from(TEXT, {"blocks": list(_blocks())[:-1], "links": list(_links())[:-1]}, FILE)


def _blocks() -> Iterator[str]:
    rows = []
    for name, block in catalogue().blocks.items():
        one = size(name, Need())
        raid = f"{block.disks}, {block.data}+{block.parity}P"
        usable = "not given" if one.usable_tb is None else f"{one.usable_tb:g}"
        rates = [f"{one.write.write_mb_s:g} ({one.write.name})", f"{one.read.read_mb_s:g} ({one.read.name})"]
        rows.append([f"`{name}`", f"{block.servers}: {block.lan}, {block.san}", raid, *rates, usable, block.page])
    yield from table("block|servers|disks|write, MB/s|read, MB/s|usable, TB|the seed's page", rows)


def _links() -> Iterator[str]:
    rows = [
        [f"`{name}`", f"{link.rate_mb_s:g}", f"{link.needed_mb_s:g}", str(link.ports), link.page]
        for name, link in catalogue().links.items()
    ]
    yield from table("link|MB/s|to count on|ports|the seed's page", rows)
