"""A cluster's key pairs and the public keys that it knows, in /var/mc/ssl.

    id_rsaN, id_rsaN.cert   key pair N: the private key, and the public one as a self-signed certificate of the
                            cluster's name, which can sign no other
    id_rsa -> id_rsaN       the pair that this cluster shows to others
    id_rsa.pub              what other clusters are to know: the pair in use and, while keys are being changed,
                            the new one, too
    authorized_cluster.C    the public keys of C, which may mount this cluster's filesystems
    known_cluster.C         the public keys of C, whose filesystems this cluster mounts

A driver adds to them what its daemons want. TLS takes the word of whoever has signed a certificate, and servers go by
the name in it. So a public key that could sign others is never made here, nor taken from another cluster: its owner
could call itself by any name.

Sources: Redpaper, "SSL setup for the local CLIENT cluster", "Key exchange between the two GPFS clusters"; RFC 5280,
4.2.1 (basic constraints, key usage).
"""

import re
from pathlib import Path

from mc import native
from mc.native import Refused

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----\n.*?-----END CERTIFICATE-----\n", re.DOTALL)
_DAYS = "3650"
_PRIVATE = 0o600
#: What a public key is for: both ends of a TLS connection, and nothing else.
EXTENSIONS = {
    "basicConstraints": "critical,CA:FALSE",
    "keyUsage": "critical,digitalSignature",
    "extendedKeyUsage": "serverAuth,clientAuth",
}
#: The same as openssl says it of a certificate: heading -> value.
_SAID = {
    "Basic Constraints": "CA:FALSE",
    "Key Usage": "Digital Signature",
    "Extended Key Usage": "TLS Web Server Authentication, TLS Web Client Authentication",
}


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
    about = ["-subj", f"/CN={cluster}", "-days", _DAYS]
    for name, value in EXTENSIONS.items():
        about += ["-addext", f"{name}={value}"]
    native.must(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *about, "-keyout", str(key), "-out", str(cert)]
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
    if file.exists():
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

    Refused: what is no file, a private key, a truncated one, another cluster's, one of several names, one that somebody
    else has signed, and one that could itself sign others or is made for something else.
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
        if why := _wrong(certificate, cluster):
            raise Refused(f"{file}: {why}; {remedy}")
    return "".join(found)


def _wrong(certificate: str, cluster: str) -> str:
    """Why it is no public key of that cluster; nothing where it is one."""
    subject, issuer = names(certificate)
    if not subject:
        return "openssl cannot read it"
    if subject != [cluster]:
        return f"this is the public key of {' and '.join(subject)}, not of {cluster}"
    if issuer != subject:
        return f"{' and '.join(issuer)} has signed it, and who signs one key can sign others"
    argv = ["openssl", "x509", "-noout", "-ext", ",".join(EXTENSIONS)]
    said = native.run(argv, stdin=certificate.encode(), quiet=True).out
    extensions = dict(re.findall(r"^X509v3 ([^:]+):.*\n +(.*\S)", said, re.MULTILINE))
    if extensions != _SAID:
        is_not = ", ".join(f"{value} ({name})" for name, value in _SAID.items() if extensions.get(name) != value)
        return f"it could be used for more than a cluster's key may be, as to sign other names; it lacks {is_not}"
    return ""


def names(certificate: str) -> tuple[list[str], list[str]]:
    """All that stands in the name of the cluster whose public key it is, and in that of who has signed it.

    None where openssl cannot read it. A cluster's is its name alone; of any other part the kind is said, as in O=.
    """
    argv = ["openssl", "x509", "-noout", "-subject", "-issuer", "-nameopt", "sname,sep_multiline,esc_ctrl,esc_msb"]
    said = native.run(argv, stdin=certificate.encode(), quiet=True)
    subject, _, issuer = said.out.partition("\nissuer=")
    words = ([line.strip().removeprefix("CN=") for line in text.splitlines()[1:]] for text in (subject, issuer))
    return (next(words), next(words)) if said.rc == 0 else ([], [])


def digests(file: Path) -> list[str]:
    """The SHA-256 digests of the public keys in a file, which two administrators can compare by telephone."""
    text = file.read_text() if file.exists() else ""
    argv = ["openssl", "x509", "-noout", "-fingerprint", "-sha256"]
    said = [native.run(argv, stdin=c.encode(), quiet=True).out for c in _CERTIFICATE.findall(text)]
    return [line.partition("=")[2].strip().replace(":", "").lower() or "unreadable" for line in said]
