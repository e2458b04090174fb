"""What `up` ends with: what to try next in this lab."""

from collections.abc import Iterator
from pathlib import Path

from causeway.model.site import Site
from causeway.scenario.playbill import about, billing
from causeway.scenario.runner import load_all


def after_up(site: Site, file: Path) -> list[str]:
    """The lines of try.txt beside the site's file; where there is none, what the site itself suggests."""
    own = file.with_name("try.txt")
    lines = own.read_text().splitlines() if own.exists() else _from(site)
    return ["Try next:", *(f"  {line}" for line in lines)]


def _from(site: Site) -> Iterator[str]:
    ends = [end for _, end, _ in site.channel_ends() if not site.nodes[end.node].switch]
    if ends:
        yield f"make lab-shell NODE={ends[0].node}      then: cat /proc/net/bonding/{ends[0].name}; ip route"
    elif site.nodes:
        yield f"make lab-shell NODE={next(iter(site.nodes))}      then: ip addr; ip route"
    scenarios = about(load_all([]), site)
    if able := next((s for s in scenarios if s.cast and not billing(s, site).why_not), None):
        yield f"bin/causeway run {able.name}     {able.title}"
    yield f"make lab-graph; make lab-down  what {site.name} looks like; and its end"
