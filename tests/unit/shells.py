"""The shells that nodes run scripts with: the service node's and the servers', and the I/O nodes'."""

import shutil

import pytest

SHELLS = [
    pytest.param(["sh"], id="sh"),
    pytest.param(
        ["busybox", "sh"],
        id="busybox",
        marks=pytest.mark.skipif(shutil.which("busybox") is None, reason="there is no BusyBox here"),
    ),
]
