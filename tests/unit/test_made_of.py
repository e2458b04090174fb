"""What a lab is made of, by what Debian says of an image and by this Python itself."""

import platform

import pytest

from causeway.hosts import artefacts, made_of

STATUS = """Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.41-12
Description: GNU C Library
 Version: 0, says a line that goes on.

Package: gone
Status: deinstall ok config-files
Version: 1.0

Package: nuttcp
Status: install ok installed
Version: 8.2.2-3
"""


def test_installed_packages_have_their_versions_and_removed_ones_are_none() -> None:
    assert made_of.installed(STATUS) == {"libc6": "2.41-12", "nuttcp": "8.2.2-3"}


def test_the_tool_itself_is_part_of_it() -> None:
    tool = made_of.manifest()["tool"]
    assert tool["python"] == platform.python_version()
    assert tool["pydantic"]


@pytest.mark.skipif(not artefacts.LABHOST.built, reason="the lab host is not built on this machine yet")
def test_what_was_built_is_named_with_versions_and_digests() -> None:
    manifest = made_of.manifest()
    assert {"docker.io", "containerd"} <= manifest["labhost"].keys()
    assert {"openvswitch-switch", "glusterfs-server"} <= manifest["base"].keys()
    assert len(manifest["kernel"]["sha256 of linux"]) == 64
    assert manifest["containerlab"]["containerlab"]
