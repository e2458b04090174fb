"""Clusters: their diskless nodes, members, name servers, and what they mount of each other."""

from dataclasses import dataclass

from causeway.scenario.cast.base import Asking, number, several


@dataclass(frozen=True)
class Diskless:
    """Nodes that boot over the network and are up when the lab is, and the node that they boot from."""

    pool: str
    nodes: list[str]
    server: str


@dataclass(frozen=True)
class Member:
    """A node that its cluster can do without for a while, and where the cluster's administrator works."""

    node: str
    administrator: str
    cluster: str


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

    def member(self, node: str = "") -> Member:
        """A node (or this one) that can be missed: its cluster has its quorum in its administrator alone.

        It is none that others ask for names, and its cluster mounts filesystems.
        """
        site = self.site
        asked = [cluster.dns for cluster in site.topology.clusters.values()]
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

    def name_server(self, node: str) -> str:
        """Who answers a node's questions for names."""
        server = self.site.name_server(node)
        if server is None:
            raise self._lacks(f"name server for {node}")
        return self._give([server])[0]

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
