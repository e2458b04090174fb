"""Which keys clusters show and know, as the mc commands change them: who could mount what anew.

Source: Redpaper, "SSL setup for the local CLIENT cluster" (mmauth genkey new, commit) and "Key exchange".
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from causeway.model.site import Site
from causeway.rehearse.state import Fails, NotPredicted

#: Where a cluster's public keys are, on each of its nodes (nodes/mc).
PUBLIC_KEYS = "/var/mc/ssl/id_rsa.pub"
#: The commands that are about keys; others of their like are not interpreted.
_PROGRAMS = ("mcauth", "mcremotecluster")
#: A cluster's keys, by whose they are and which of them in turn.
Key = tuple[str, int]


def is_about_keys(command: str) -> bool:
    """Whether a command is one of those that keys are changed by."""
    return command.split()[0] in _PROGRAMS


@dataclass(frozen=True)
class Keys:
    """The keys that each cluster has, the first of which it shows; those of others that it knows: (cluster, other);
    and what carried files hold: (node, path). A cluster that is not named has one key, which all others know."""

    site: Site
    own: Mapping[str, tuple[Key, ...]] = field(default_factory=dict)
    known: Mapping[tuple[str, str], tuple[Key, ...]] = field(default_factory=dict)
    files: Mapping[tuple[str, str], tuple[Key, ...]] = field(default_factory=dict)

    def of(self, cluster: str) -> tuple[Key, ...]:
        """A cluster's keys."""
        return self.own.get(cluster, ((cluster, 1),))

    def carried(self, source: str, path: str, target: str, to: str) -> "Keys":
        """A file is carried from a node to another."""
        cluster = self._cluster(source)
        held = self.of(cluster) if path == PUBLIC_KEYS and cluster else self.files.get((source, path), ())
        return replace(self, files={**self.files, (target, to): held})

    def done(self, node: str, command: str) -> "Keys":
        """What one of the mc commands does to them. Fails where it would; NotPredicted where it is another one."""
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise NotPredicted(f"a shell's quotes: {error}") from None
        match words:
            case ["mcauth", "genkey", "new"]:
                return self._new(self._cluster(node))
            case ["mcauth", "genkey", "commit"]:
                return self._commit(self._cluster(node))
            case ["mcauth", "update", other, "-k", path] | ["mcremotecluster", "update", other, "-k", path]:
                return self._update(node, other, path)
        raise NotPredicted(f"what {' '.join(words[:2])} does")

    def refused(self) -> Iterator[tuple[str, str, str]]:
        """(client, filesystem, why) of each that a client could not mount now."""
        for client in self.site.topology.clusters:
            for name, filesystem in self.site.mounts(client).items():
                owner = filesystem.owner
                for one, other in ((owner, client), (client, owner)):
                    if owner != client and self.of(other)[0] not in self._known(one, other):
                        yield client, name, f"{one} does not know the key that {other} shows"
                        break

    # ---

    def _new(self, cluster: str) -> "Keys":
        has = self.of(cluster)
        if len(has) > 1:
            raise Fails("a new key is waiting to be committed: mcauth genkey commit")
        return replace(self._frozen(cluster), own={**self.own, cluster: (*has, (cluster, has[-1][1] + 1))})

    def _commit(self, cluster: str) -> "Keys":
        has = self.of(cluster)
        if len(has) < 2:
            raise Fails("there is no new key to commit; mcauth genkey new makes one")
        return replace(self, own={**self.own, cluster: has[1:]})

    def _update(self, node: str, name: str, path: str) -> "Keys":
        cluster = self._cluster(node)
        other = next((c for c in self.site.topology.clusters if f"{c}.{self.site.topology.domain}" == name), None)
        if other is None or cluster not in (self._owners(other) | self._clients(other)):
            raise Fails(f"cluster {name} is not known")
        if (node, path) not in self.files:
            raise NotPredicted(f"which keys {path} holds, as nobody has carried it there")
        held = self.files[node, path]
        if not held or any(whose != other for whose, _ in held):
            raise Fails(f"{path} has no key of {name}")
        return replace(self, known={**self.known, (cluster, other): held})

    def _frozen(self, cluster: str) -> "Keys":
        """What others know of a cluster now, written down: it stays what it is."""
        others = (c for c in self.site.topology.clusters if c != cluster)
        return replace(self, known={**{(c, cluster): self._known(c, cluster) for c in others}, **self.known})

    def _known(self, cluster: str, other: str) -> tuple[Key, ...]:
        return self.known.get((cluster, other), self.of(other))

    def _owners(self, client: str) -> set[str]:
        return {filesystem.owner for filesystem in self.site.mounts(client).values()} - {client}

    def _clients(self, owner: str) -> set[str]:
        return {c for c in self.site.topology.clusters if owner in self._owners(c)}

    def _cluster(self, node: str) -> str:
        return self.site.nodes[node].cluster or ""
