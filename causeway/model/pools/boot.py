"""The node that a pool's nodes boot from."""

from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import Field, StrictInt

from causeway.model.findings import Finding, Where, unknown
from causeway.model.pools.around import Around
from causeway.model.thing import Thing
from causeway.model.topology import Disk

#: The adapter that diskless nodes boot by: their firmware asks there for an address.
DEVICE = "eth0"


class Boot(Thing):
    """The node that a pool's nodes boot from, and what it can do.

    `nfs_threads` are its NFS server's, `lease_s` is the time for which it lends an address by DHCP (seconds),
    and `var_mib` the room that it has for what is each node's own (MiB). On its `disk` lie all the trees that it
    serves, and with one the room is that of all nodes together; one of which nothing is said is as fast as memory.
    """

    server: str
    nfs_threads: Annotated[StrictInt, Field(ge=1, le=512)] = 8
    lease_s: Annotated[StrictInt, Field(ge=120, le=10**9)] = 3600
    var_mib: Annotated[StrictInt, Field(ge=1, le=10**5)] = 8
    disk: Disk | None = None


def check_server(
    where: Where, boot: Boot, cluster: str, networks: Iterable[str], whose: str, around: Around
) -> Iterator[Finding]:
    """Diskless nodes need somebody to boot from, in their networks and their cluster."""
    if boot.server not in around.nodes:
        yield unknown(where, "node", boot.server, around.nodes)
        return
    server = around.nodes[boot.server]
    legs = {leg.network for leg in server.interfaces.values()}
    if lacking := [network for network in networks if network in around.networks and network not in legs]:
        what = f"{boot.server} has no interface in {lacking[0]}, {whose} network"
        yield Finding(where, what, "use a node that has one", (f"{boot.server}:*", lacking[0]))
    elif cluster in around.clusters and server.cluster != cluster:
        what = f"{boot.server} is not in {cluster}, {whose} cluster"
        yield Finding(where, what, f"use a node of {cluster}", (str(server.cluster),))
