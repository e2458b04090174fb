"""A Blue Gene's I/O nodes on a lab's page: the blocks in which they are booted."""

from causeway.docs.markdown import section
from causeway.model.pools.bluegene import BlueGene


def sections(pool: BlueGene) -> list[str]:
    """Each block with its pattern, and what the boot server can do."""
    boot = pool.boot
    blocks = ([name, f"`{pattern}`"] for name, pattern in pool.blocks.items())
    lines = section("Blocks", "block|its I/O nodes, as a pattern", blocks)
    lines += [
        f"`bglallocate BLOCK USER` on {boot.server} boots one; `causeway up` does it for {pool.booted}.",
        f"{boot.server} has {boot.nfs_threads} NFS threads, leases of {boot.lease_s} s, and {boot.var_mib} MiB for",
        "each node's own /var.",
        "",
    ]
    return lines
