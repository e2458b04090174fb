"""The shells that nodes run scripts with: the service node's and the servers', and the I/O nodes'."""

import gzip
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from causeway.hosts.artefacts import LABHOST

#: Where the lab's own is unpacked, until the tests have ended.
_FOLDER = tempfile.TemporaryDirectory(prefix="causeway-tests-")


def _busybox() -> str | None:
    """The lab's own BusyBox, out of what a lab host starts with; this machine's where no lab host is built."""
    packed = LABHOST.folder / "initrd.gz"
    if not packed.exists():
        return shutil.which("busybox")
    argv = ["cpio", "--quiet", "-id", "bin/busybox"]
    subprocess.run(argv, input=gzip.decompress(packed.read_bytes()), cwd=_FOLDER.name, check=True)
    return str(Path(_FOLDER.name, "bin/busybox"))


BUSYBOX = _busybox()
SHELLS = [
    pytest.param(["sh"], id="sh"),
    pytest.param(
        [str(BUSYBOX), "sh"],
        id="busybox",
        marks=pytest.mark.skipif(BUSYBOX is None, reason="there is no BusyBox here, and no lab host is built"),
    ),
]
