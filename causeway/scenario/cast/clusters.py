"""Clusters: their diskless nodes, members, name servers, and what they mount of each other."""

from dataclasses import dataclass

from causeway.model.pools import names
from causeway.model.pools.bluegene import BlueGene, block_nodes
from causeway.plan.files import seeks
from causeway.scenario.cast.base import Asking, number, several


@dataclass(frozen=True)
class Diskless:
    """Nodes that boot over the network and are up when the lab is, and the node that they boot from."""

    pool: str
    nodes: list[str]
    server: str


@dataclass(frozen=True)
class Blocks:
    """Blocks of diskless nodes that are up when the lab is, with their nodes, the smallest first; and their server."""

    server: str
    nodes: dict[str, list[str]]


@dataclass(frozen=True)
class Member:
    """A node that its cluster can do without for a while, and where the cluster's administrator works."""

    node: str
    administrator: str
    cluster: str


@dataclass(frozen=True)
class Keeper:
    """The node that keeps a cluster's configuration, another of its members that can, and all who are to have it."""

    cluster: str
    node: str
    successor: str
    members: list[str]


@dataclass(frozen=True)
class Mounts:
    """Filesystems that a client cluster mounts of one owner, the largest first, and who is who in it.

    `administrator` is where the client's administrator works; `user` another of its nodes that has a disk.
    """

    filesystems: list[str]
    owner: str
    client: str
    administrator: str
    user: str


class AskClusters(Asking):
    """Questions for clusters."""

    def diskless(self, most: int, *, platform: str, least: int = 1) -> Diskless:
        """Up to `most` nodes of a platform that boot over the network, and whom they boot from."""
        for name, pool in self.site.boot_pools().items():
            nodes = [node for node in self.site.nodes_of(name) if self.site.comes_up(node)]
            if pool.platform == platform and len(nodes) >= least:
                self._give([pool.boot.server, *nodes[:most]])
                return Diskless(name, nodes[:most], pool.boot.server)
        what = several(least, "node", "nodes")
        raise self._lacks(f"{what} of platform {platform} booting over the network")

    def blocks(self, least: int, *, platform: str, disk: bool = False) -> Blocks:
        """So many blocks: what is booted when the lab comes up, and parts of it, each at most half of the next.

        disk: the site says what the disk of their server does.
        """
        for pool in self.site.boot_pools().values():
            if not isinstance(pool, BlueGene) or pool.platform != platform or (disk and pool.boot.disk is None):
                continue
            whole = {name: block_nodes(pool, name, names(pool)) for name in pool.blocks}
            found = [pool.booted]
            for name in sorted(whole, key=lambda name: -len(whole[name])):
                part, last = whole[name], whole[found[0]]
                if part and set(part) <= set(last) and 2 * len(part) <= len(last):
                    found.insert(0, name)
            if len(found) >= least:
                found = found[-least:]
                self._give([pool.boot.server, *whole[found[-1]]])
                return Blocks(pool.boot.server, {name: whole[name] for name in found})
        what = f"{number(least)} blocks, each at most half of the next and the last of them booted"
        raise self._lacks(what + (", from a node whose disk it describes" if disk else ""))

    def member(self, node: str = "") -> Member:
        """A node (or this one) that can be missed: its cluster has its quorum in its administrator alone.

        It is none that others ask for names, and its cluster mounts filesystems.
        """
        site = self.site
        asked = site.all_name_servers()
        for name in [node] if node else sorted(self._hosts(), key=lambda host: host not in site.diskless()):
            if name in asked:
                continue
            cluster = site.nodes[name].cluster
            administrator = site.administrator(cluster) if cluster else None
            if cluster and administrator and site.mounts(cluster) and site.quorum(cluster) == [administrator] != [name]:
                self._give([administrator, name])
                return Member(name, administrator, cluster)
        what = f"filesystem for {node}" if node else "node"
        raise self._lacks(f"{what} in a cluster that mounts filesystems and whose quorum is its administrator's node")

    def keeper(self) -> Keeper:
        """Who keeps a cluster's configuration and can be lost: nobody boots from it, or goes through it, and its
        filesystems can spare it.

        The successor is rather a quorum node, for that one is asked for leases.
        """
        site = self.site
        needed = {pool.boot.server for pool in site.boot_pools().values()}
        needed |= {name for name, node in site.nodes.items() if node.forwards or node.switch}
        whole = {s for name, f in site.topology.filesystems.items() if not f.parity for s in site.servers(name)}
        for cluster in dict.fromkeys([*site.owners(), *site.clients()]):
            node = site.administrator(cluster)
            members = [host for host in self._hosts() if site.nodes[host].cluster == cluster]
            able = [host for host in members if host != node and host not in site.diskless()]
            if node in members and node not in needed | whole and able:
                self._give(members)
                successor = min(able, key=lambda host: host not in site.quorum(cluster))
                return Keeper(cluster, node, successor, members)
        raise self._lacks("cluster whose configuration is kept by a node that can be lost, beside another with a disk")

    def name_server(self, node: str) -> str:
        """Whom a node asks for names, first of all."""
        servers = self.site.name_servers(node)
        if not servers:
            raise self._lacks(f"name server for {node}")
        return self._give(servers[:1])[0]

    def several_name_servers(self, node: str) -> list[str]:
        """Two or three that a node reaches: its own ones, after those of other clusters if it has one alone.

        All know the same names.
        """
        own = self.site.name_servers(node)
        others = [s for s in self.site.all_name_servers() if s not in own and self._talk(node, s)]
        found = own if len(own) > 1 else [*others[:2], *own]
        if len(found) < 2:
            raise self._lacks(f"second name server that {node} reaches")
        return self._give(found)

    def unsought(self, filesystem: str) -> None:
        """Unsupported where its disks take time to get to another place, for nobody computes how often they have to."""
        if seeks(self.site, filesystem):
            raise self._lacks("filesystem whose disks' rate alone says how fast they are")

    def mounts(self, filesystems: int = 1, *, alone: bool = False) -> Mounts:
        """A client cluster that mounts filesystems of another, with two nodes that have disks.

        alone: its quorum is its administrator's node, so that no other's daemon has a say in that one's state.
        """
        for owner in self.site.owners():
            for client in self.site.clients(owner):
                theirs = [n for n, f in self.site.mounts(client).items() if f.owner == owner]
                theirs.sort(key=lambda n: -self.site.topology.filesystems[n].size_mib)
                administrator = self.site.administrator(client)
                users = [
                    n
                    for n in self._hosts()
                    if self.site.nodes[n].cluster == client and n != administrator and n not in self.site.diskless()
                ]
                if alone and self.site.quorum(client) != [administrator]:
                    continue
                if len(theirs) >= filesystems and administrator and users:
                    self._give([administrator, users[0]])
                    return Mounts(theirs, owner, client, administrator, users[0])
        what = "filesystem" if filesystems == 1 else f"{number(filesystems)} filesystems"
        raise self._lacks(
            f"{what} that a cluster mounts of another on two nodes with disks"
            + (", and whose quorum is its administrator's node" if alone else "")
        )

    def clients(self, mounts: Mounts) -> list[str]:
        """The nodes that mount a cluster's filesystems, but for its administrator's: without a disk first."""
        able = [h for h in self._hosts() if self.site.nodes[h].cluster == mounts.client and h != mounts.administrator]
        return self._give(sorted(able, key=lambda host: host not in self.site.diskless()))
