"""GlusterFS: how many servers a layout takes."""

from collections.abc import Iterator

from causeway.model.findings import Finding, Where
from causeway.model.topology import Filesystem


def check(where: Where, filesystem: Filesystem, servers: int) -> Iterator[Finding]:
    """A stripe has parity, and more than twice as many servers; a file that is whole has none."""
    parity = filesystem.parity
    if filesystem.layout == "whole":
        if parity:
            what = f"parity {parity} of files that are each whole on one server"
            yield Finding((*where, "parity"), what, "use 0, or layout stripe")
    elif parity < 1:
        yield Finding((*where, "parity"), "stripes without parity", "use 1 or more, or layout whole")
    elif servers <= 2 * parity:
        what = f"{servers} servers for parity {parity}: there must be more than twice as many"
        yield Finding((*where, "servers"), what, f"name {2 * parity + 1} or more, or use less parity", ("servers",))
