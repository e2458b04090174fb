"""`make update`: move images/pins on to what its sources have today, and say what changed.

Nothing is built and nothing is proven by that: `make test` does both. A source that fails leaves all as it was.
The minor version of Go stays, as containerlab's modules are of its time.

usage: python -m causeway.hosts.updating
"""

import base64
import io
import json
import os
import re
import sys
import tempfile
import urllib.request
import zipfile
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError

from causeway import folders, process
from causeway.errors import EXIT_LAB_BROKEN, EXIT_PASSED, LabBroken
from causeway.hosts import pins
from causeway.hosts.pins import Pin

_MIRROR = os.environ.get("CAUSEWAY_MIRROR") or "http://deb.debian.org/debian"
_PROXY = "https://proxy.golang.org"
_TOOLCHAIN = "golang.org/toolchain"
_REQUIREMENTS = "requirements.txt"


def snapshot() -> Pin:
    """Debian's packages of today; a snapshot mirror has, for any time, what there was then."""
    return Pin("snapshot", "debian", datetime.now(UTC).strftime("%Y%m%dT000000Z"))


def kernel() -> Pin:
    """The newest source of Linux that Debian offers for our release."""
    with tempfile.TemporaryDirectory() as apt:
        argv = [str(folders.REPO / "images/kernel/offered"), apt, _MIRROR]
        version, name, digest = process.run(argv, timeout_s=300).must().split("\n")[0].split()
    return Pin("kernel", name, version, f"sha256:{digest}")


def go(now: Pin) -> Pin:
    """The newest patch of a Go toolchain's minor version that the proxy has."""
    minor = re.escape(now.version.rpartition(".linux")[0].rpartition(".")[0])
    listed = _fetch(f"{_TOOLCHAIN}/@v/list").decode().split()
    fitting = [version for version in listed if re.fullmatch(rf"{minor}\.\d+\.linux-amd64", version)]
    newest = max(fitting, key=lambda version: int(version.split(".")[-2]))
    if newest == now.version:
        return now
    return Pin("go", _TOOLCHAIN, newest, f"sha256:{sha256(_fetch(f'{_TOOLCHAIN}/@v/{newest}.zip')).hexdigest()}")


def module(now: Pin) -> Pin:
    """The newest release of a Go module, with the sum that Go gives it; the one of now where the proxy names none."""
    try:
        newest = json.loads(_fetch(f"{now.name}/@latest"))["Version"]
    except LookupError:
        print(f"{now.name}: {_PROXY} does not say which is the newest; it stays", file=sys.stderr)
        return now
    return now if newest == now.version else Pin("go", now.name, newest, h1(_fetch(f"{now.name}/@v/{newest}.zip")))


def h1(zipped: bytes) -> str:
    """Go's sum of a module: of its files' sums and names, in the order of names (golang.org/x/mod/sumdb/dirhash)."""
    with zipfile.ZipFile(io.BytesIO(zipped)) as archive:
        lines = [f"{sha256(archive.read(name)).hexdigest()}  {name}\n" for name in sorted(archive.namelist())]
    return "h1:" + base64.b64encode(sha256("".join(lines).encode()).digest()).decode()


def python(requirements: str) -> list[Pin]:
    """The newest packages that a requirements file's names lead to, as wheels for the lab host's Python."""
    names = re.findall(r"^([\w.-]+)==", requirements, re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        argv = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run"]
        argv += ["--ignore-installed", *_wheels(), "--target", folder]
        process.run([*argv, "--report", str(report), *names], timeout_s=300).must()
        found = json.loads(report.read_text())["install"]
    spelling = {_plain(name): name for name in names}
    pinned = [
        Pin(
            "python",
            spelling.get(_plain(one["metadata"]["name"]), one["metadata"]["name"]),
            one["metadata"]["version"],
            f"sha256:{one['download_info']['archive_info']['hashes']['sha256']}",
        )
        for one in found
    ]
    return sorted(pinned, key=lambda pin: pin.name.lower())


def _wheels() -> list[str]:
    """pip's options for wheels that fit the lab host."""
    lines = (folders.REPO / "images/labhost/wheels").read_text().splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]


def required(requirements: str, packages: list[Pin]) -> str:
    """A requirements file's text with the versions that are pinned; what is new stands at its end."""
    for pin in packages:
        line = re.compile(rf"^({re.escape(pin.name)}==)\S+", re.MULTILINE)
        if line.search(requirements):
            requirements = line.sub(rf"\g<1>{pin.version}", requirements)
        else:
            requirements += f"{pin.name}=={pin.version}\n"
    return requirements


def _plain(name: str) -> str:
    """A package's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _fetch(path: str) -> bytes:
    """What the proxy has there; LookupError where that is nothing."""
    try:
        with urllib.request.urlopen(f"{_PROXY}/{path}", timeout=300) as answer:
            return bytes(answer.read())
    except HTTPError as refused:
        if refused.code in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            raise LookupError(path) from None
        raise LabBroken(f"{_PROXY}/{path}: {refused}") from None
    except OSError as failed:
        raise LabBroken(f"{_PROXY}/{path}: {failed}") from None


def main() -> int:
    text, requirements = pins.file().read_text(), folders.REPO / _REQUIREMENTS
    before = pins.read(text)
    try:
        packages = python(requirements.read_text())
        modules = [go(pin) if pin.name == _TOOLCHAIN else module(pin) for pin in pins.of({"go"})]
        after = [snapshot(), kernel(), *modules, *packages]
    except LabBroken as failed:
        print(f"nothing was changed: {failed}", file=sys.stderr)
        return EXIT_LAB_BROKEN
    pins.file().write_text(pins.written(text, after))
    requirements.write_text(required(requirements.read_text(), packages))
    print("\n".join(pins.changes(before, after)) or "all as it was")
    return EXIT_PASSED


if __name__ == "__main__":
    sys.exit(main())
