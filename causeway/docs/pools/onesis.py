"""Nodes with one root on a lab's page: whose it is, what is not the same for all, and what their server can do."""

from causeway.docs.markdown import section
from causeway.model.pools.onesis import OneSis


def sections(pool: OneSis) -> list[str]:
    """The classes with their nodes, and what the boot server can do."""
    boot = pool.boot
    lines = [] if not pool.classes else section("Classes", "class|its nodes", _classes(pool))
    lines += [
        f"Their root is {boot.server}:/var/lib/oneSIS/root, mounted read-only by {pool.root}; `node-power on|off|reset",
        f"NODE...` on {boot.server} switches them. {boot.server} has {boot.nfs_threads} NFS threads, leases of",
        f"{boot.lease_s} s, and {boot.var_mib} MiB for what is each node's own.",
        "",
    ]
    return lines


def _classes(pool: OneSis) -> list[list[str]]:
    return [[name, ", ".join(those)] for name, those in pool.classes.items()]
