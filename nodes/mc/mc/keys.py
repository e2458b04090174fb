"""A cluster's key pairs and the public keys that it knows, in /var/mc/ssl.

    id_rsaN, id_rsaN.cert   key pair N: the private key, and the public one as a self-signed certificate of the
                            cluster's name
    id_rsa -> id_rsaN       the pair that this cluster shows to others
    id_rsa.pub              what other clusters are to know: the pair in use and, while keys are being changed,
                            the new one, too
    authorized_cluster.C    the public keys of C, which may mount this cluster's filesystems
    known_cluster.C         the public keys of C, whose filesystems this cluster mounts

A driver adds to them what its daemons want.

Source: Redpaper, "SSL setup for the local CLIENT cluster", "Key exchange between the two GPFS clusters".
"""

import re
from pathlib import Path

from mc import native
from mc.native import Refused

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----\n.*?-----END CERTIFICATE-----\n", re.DOTALL)
_DAYS = "3650"
_PRIVATE = 0o600


def numbers(ssl: Path) -> list[int]:
    """The key pairs that there are: one, or two while keys are being changed."""
    found = (re.fullmatch(r"id_rsa(\d+)", file.name) for file in ssl.glob("id_rsa*"))
    return sorted(int(match[1]) for match in found if match)


def in_use(ssl: Path) -> int | None:
    """The pair that this cluster shows to others."""
    link = ssl / "id_rsa"
    return int(str(link.readlink()).removeprefix("id_rsa")) if link.is_symlink() else None


def generate(ssl: Path, cluster: str) -> None:
    """Make a new pair. The first one is used at once, a second one when it is committed."""
    number = max(numbers(ssl), default=0) + 1
    key, cert = ssl / f"id_rsa{number}", ssl / f"id_rsa{number}.cert"
    key.touch(mode=_PRIVATE)
    subject = ["-subj", f"/CN={cluster}", "-days", _DAYS]
    native.must(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject, "-keyout", str(key), "-out", str(cert)]
    )
    key.chmod(_PRIVATE)
    if number == 1:
        use(ssl, 1)
    publish(ssl)


def use(ssl: Path, number: int) -> None:
    """Show this pair to others from now on."""
    for name, target in {
        "id_rsa": f"id_rsa{number}",
        "id_rsa.cert": f"id_rsa{number}.cert",
    }.items():
        native.link(ssl / name, target)


def drop(ssl: Path, number: int) -> None:
    """Forget a pair."""
    for file in (ssl / f"id_rsa{number}", ssl / f"id_rsa{number}.cert"):
        native.remove(file)


def know(file: Path, given: Path, cluster: str) -> None:
    """Keep another cluster's public keys, which were given in a file, in one of ours (see above)."""
    native.write(file, read_public(given, cluster))


def forget(file: Path) -> None:
    """Know another cluster's public keys no more."""
    native.remove(file)


def publish(ssl: Path) -> None:
    """Write id_rsa.pub."""
    native.write(ssl / "id_rsa.pub", _own(ssl))


def trusted(ssl: Path, others: str) -> str:
    """This cluster's own public keys and those of others, kept as authorized_cluster or known_cluster."""
    return _own(ssl) + "".join(file.read_text() for file in sorted(ssl.glob(f"{others}.*")))


def _own(ssl: Path) -> str:
    return "".join((ssl / f"id_rsa{number}.cert").read_text() for number in numbers(ssl))


def read_public(file: Path, cluster: str) -> str:
    """The public keys in a file that came from another cluster, checked; as text.

    Refused: what is no file, a private key, a truncated one, another cluster's.
    """
    remedy = f"copy /var/mc/ssl/id_rsa.pub from a node of {cluster} again"
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "this is no text"
        raise Refused(f"{file}: {why}; {remedy}") from None
    if "PRIVATE KEY" in text:
        raise Refused(f"{file}: this is a PRIVATE key, which no other cluster may have; {remedy}, and change that key")
    found = _CERTIFICATE.findall(text)
    if not found or _CERTIFICATE.sub("", text).strip():
        raise Refused(f"{file}: this is no public key, or a part of one only; {remedy}")
    for certificate in found:
        name = subject(certificate)
        if name is None:
            raise Refused(f"{file}: openssl cannot read it; {remedy}")
        if name != cluster:
            raise Refused(f"{file}: this is the public key of {name}, not of {cluster}; {remedy}")
    return "".join(found)


def subject(certificate: str) -> str | None:
    """The name of the cluster whose public key it is; None when openssl cannot read it."""
    argv = ["openssl", "x509", "-noout", "-subject", "-nameopt", "multiline"]
    said = native.run(argv, stdin=certificate.encode(), quiet=True)
    match = re.search(r"commonName\s*= (.*)", said.out)
    return match[1].strip() if said.rc == 0 and match else None


def digests(file: Path) -> list[str]:
    """The SHA-256 digests of the public keys in a file, which two administrators can compare by telephone."""
    text = file.read_text() if file.exists() else ""
    argv = ["openssl", "x509", "-noout", "-fingerprint", "-sha256"]
    said = [native.run(argv, stdin=c.encode(), quiet=True).out for c in _CERTIFICATE.findall(text)]
    return [line.partition("=")[2].strip().replace(":", "").lower() or "unreadable" for line in said]
