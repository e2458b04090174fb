"""The keys of one lab, made when it is rendered and never kept in the repository or a report."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from causeway.model.site import Site


class KeyPair:
    """An OpenSSH key pair; `owner` says who shares it."""

    def __init__(self, owner: str) -> None:
        key = Ed25519PrivateKey.generate()
        self.owner = owner
        self.private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
        self.public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


class Secrets:
    """Host and root keys. Diskless nodes of one pool share one of each, every other node has its own.

    Source: Redpaper, "SSH setup for the IONs": "we treat all IONs as identical".
    """

    def __init__(self, site: Site) -> None:
        owners = {self.owner(site, name) for name, node in site.nodes.items() if node.cluster}
        self.host = {owner: KeyPair(owner) for owner in sorted(owners)}
        self.root = {owner: KeyPair(owner) for owner in sorted(owners)}

    @staticmethod
    def owner(site: Site, node: str) -> str:
        """Whose keys a node has: its own, or its pool's."""
        pool = site.pool_name(node)
        return pool if pool in site.boot_pools() and pool is not None else node
