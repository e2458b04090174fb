"""What nodes would lack of names and keys with the user's own files in the place of rendered ones."""

import base64
import hmac
from collections.abc import Callable, Iterator, Mapping

from causeway.model.site import Site
from causeway.render.secrets import Secrets
from causeway.render.site import render

#: node -> path -> text, of files that a node has in place of rendered ones
Overlay = Mapping[str, Mapping[str, str]]


def lacks(site: Site, overlay: Overlay) -> Iterator[tuple[str, str, list[str]]]:
    """(node, what, which ones) for each file of names, keys and grants that has less than the rendered one.

    Keys cannot be compared, as a lab makes its own: who has one is.
    """
    if not overlay:
        return
    rendered = render(site, Secrets(site))
    for node, files in overlay.items():
        for path, (what, missing) in COMPARED.items():
            file = rendered.get(f"nodes/{node}/{path}")
            if path in files and file is not None and (found := missing(file.text, files[path])):
                yield node, what, found


def _lines(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield words


def _names(wanted: str, own: str) -> list[str]:
    """Names that have no address, or another one. Source: hosts(5); of two lines with a name the first counts."""
    known: dict[str, str] = {}
    for address, *names in _lines(own):
        for name in names:
            known.setdefault(name, address)
    found = []
    for address, *names in _lines(wanted):
        for name in names:
            if known.get(name) != address:
                found.append(name if name not in known else f"{name} (it is {known[name]}, and should be {address})")
    return found


def _known_hosts(wanted: str, own: str) -> list[str]:
    """Names and addresses whose host key is not known. Source: sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"."""
    patterns = [pattern for words in _lines(own) for pattern in words[0].split(",") if not words[0].startswith("@")]
    plain = {pattern for pattern in patterns if "*" not in pattern and "?" not in pattern}
    if len(plain) < len(patterns):
        return []  # patterns stand for names that nobody can list
    hashed = [pattern.split("|")[2:] for pattern in plain if pattern.startswith("|1|")]

    def is_hashed(name: str) -> bool:
        return any(
            hmac.new(base64.b64decode(salt), name.encode(), "sha1").digest() == base64.b64decode(digest)
            for salt, digest in hashed
        )

    names = [name for words in _lines(wanted) for name in words[0].split(",")]
    return [name for name in names if name not in plain and not is_hashed(name)]


def _authorized(wanted: str, own: str) -> list[str]:
    """Those who cannot log in any more, by the comments of their keys."""
    known = {words[-1] for words in _lines(own)}
    return [words[-1] for words in _lines(wanted) if words[-1] not in known]


def _exports(wanted: str, own: str) -> list[str]:
    """Folders that are exported no more, or not to the same. Source: exports(5)."""

    def clients(text: str) -> set[tuple[str, str]]:
        pairs = ((words[0], word) for words in _lines(text) for word in words[1:])
        return {(folder, word.partition("(")[0]) for folder, word in pairs if not word.startswith("-")}

    return [f"{folder} for {client}" for folder, client in sorted(clients(wanted) - clients(own))]


#: Files that are not interpreted, but compared with the rendered ones: what less of each means, and what finds it.
COMPARED: dict[str, tuple[str, Callable[[str, str], list[str]]]] = {
    "etc/hosts": ("names without their address in /etc/hosts", _names),
    "etc/ssh/ssh_known_hosts": ("hosts whose key is not in /etc/ssh/ssh_known_hosts", _known_hosts),
    "root/.ssh/authorized_keys": ("roots who may not log in by key", _authorized),
    "etc/exports": ("folders no longer exported", _exports),
}
