"""What a UML lab is made of: versions of the kernel, of containerlab, of every package, with digests of what was built.

Kept beside each artefact in the cache, and handed over to a lab, whose reports have it.
"""

import json
import platform
import tarfile
from hashlib import file_digest
from importlib.metadata import distributions
from pathlib import Path

from causeway import process
from causeway.hosts import artefacts, mailbox
from causeway.hosts.artefacts import Artefact

#: What is where -> its version; packages by name.
Versions = dict[str, str]
#: Where Debian says what is installed.
_STATUS = "var/lib/dpkg/status"
_FILE = "made-of.json"
#: Written by the builds (images/pins.sh).
_SOURCES = "sources"


def manifest() -> dict[str, Versions]:
    """Of each artefact that is built, and of the Python that runs the tool: what it is made of; and under `sources`,
    where each artefact's parts came from, which is not what images/pins says where that could not be reached."""
    python = {package.name: package.version for package in distributions()} | {"python": platform.python_version()}
    built = [artefact for artefact in artefacts.ALL if artefact.built]
    came = {a.name: _sources(a) for a in built if (a.folder / _SOURCES).exists()}
    return {a.name: _of(a) for a in built} | {"tool": dict(sorted(python.items())), "sources": came}


def _sources(artefact: Artefact) -> str:
    return "; ".join((artefact.folder / _SOURCES).read_text().splitlines())


def _of(artefact: Artefact) -> Versions:
    kept = artefact.folder / _FILE
    if not kept.exists():
        mailbox.put(kept, json.dumps({"key": artefact.key} | _read(artefact), indent=1) + "\n")
    return dict(json.loads(kept.read_text()))


def _read(artefact: Artefact) -> Versions:
    folder = artefact.folder
    if artefact == artefacts.KERNEL:
        package, version = (folder / "version").read_text().split()
        return {package: version, "sha256 of linux": _digest(folder / "linux")}
    if artefact == artefacts.CONTAINERLAB:
        said = process.run([str(folder / "containerlab"), "version"]).stdout
        versions = dict(
            line.strip().split(": ", 1) for line in said.splitlines() if line.strip().startswith("version: ")
        )
        return {"containerlab": versions["version"], "sha256 of containerlab": _digest(folder / "containerlab")}
    if artefact == artefacts.NODE:
        with tarfile.open(folder / "node.tar") as tar:
            status = tar.extractfile(f"./{_STATUS}")
            assert status is not None
            return installed(status.read().decode())
    if artefact == artefacts.LABHOST:
        argv = ["/usr/sbin/debugfs", "-R", f"cat /{_STATUS}", str(folder / "root.img")]
        return installed(process.run(argv).must())
    return {f"sha256 of {image.name}": _digest(image) for image in folder.glob("*.tar")}


def installed(status: str) -> Versions:
    """Version by name of the packages that a dpkg status file has as installed."""
    found: Versions = {}
    for paragraph in status.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and line[0] != " ")
        if fields.get("Status", "").endswith(" installed"):
            found[fields["Package"]] = fields["Version"]
    return found


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()
