"""What a machine must have, found or missing, and the remedy: the work of `causeway doctor`."""

import os
import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from causeway import folders
from causeway.errors import LabBroken
from causeway.hosts import artefacts, disk, jail, memory, templates
from causeway.process import run

#: What a path may not have.
_STRANGE = set(" \t\n'\"\\,")
_FILESYSTEMS = Path("/proc/filesystems")
#: How to see by trying what a kernel has built in and shows nowhere; in a network namespace that goes with it. Tried
#: only where there are no modules: elsewhere the trial would load one, which changes the machine.
_TRIALS = {
    "bonding": ("ip", "link", "add", "type", "bond"),
    "openvswitch": ("genl", "ctrl", "get", "name", "ovs_datapath"),
    "veth": ("ip", "link", "add", "type", "veth"),
}


@dataclass(frozen=True)
class Need:
    """One thing that is needed, or wanted for safety (not a must): whether it is there, and what to do when not."""

    what: str
    found: bool
    detail: str
    remedy: str = ""
    must: bool = True

    @property
    def lacking(self) -> bool:
        """Whether nothing starts without it."""
        return self.must and not self.found


def _there(probe: str) -> bool:
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    return Path(probe).exists() if probe.startswith("/") else shutil.which(probe, path=path) is not None


def missing_packages() -> list[str]:
    """The Debian packages that building takes and the machine has not."""
    lines = (folders.REPO / "images" / "build-packages").read_text().splitlines()
    pairs = [line.split() for line in lines if not line.startswith("#")]
    names = [package for package, probe in pairs if not _there(probe)]
    if os.geteuid() != 0 and not _there("newuidmap"):
        names.append("uidmap")  # mmdebstrap without root maps user ids
    return names


def uml_needs() -> list[Need]:
    """What a UML lab host takes."""
    machine = platform.machine()
    needs = [Need("machine", machine == "x86_64", machine, "use an x86_64 machine")]
    if artefacts.missing():
        absent = missing_packages()
        needs.append(
            Need(
                "packages to build the lab host",
                not absent,
                "all there" if not absent else f"missing: {' '.join(absent)}",
                f"apt-get install {' '.join(absent)}",
            )
        )
    for artefact in artefacts.ALL:
        detail = str(artefact.folder) if artefact.built else "not built yet; `causeway up` builds it"
        needs.append(Need(artefact.about, True, detail))
    room = memory.room()
    needs.append(Need("memory", room.enough, str(room), room.remedy))
    rows = templates.rows()
    taken = f"{sum(row['memory_mib'] for row in rows)} MiB of memory, for {', '.join(row['site'] for row in rows)}"
    unused = f"{taken}; ended for a lab that needs it, or by `causeway templates --drop all`"
    needs.append(Need("templates, labs at rest", True, unused if rows else "none"))
    lacking = disk.lacking()
    needs.append(Need("room on disk", not lacking, "; ".join(lacking) or "enough", "free some"))
    lacks = jail.lacks()
    held = lacks or f"Landlock {jail.version()}: a lab reaches nothing of this machine but what it needs"
    remedy = "use a newer Linux, with landlock in its lsm=; or let nobody whom you do not trust be root in a lab"
    needs.append(Need("jail", not lacks, held, remedy, must=False))
    needs.append(paths())
    return needs


def paths() -> Need:
    """That no path says more than a path: mount options, shells and a kernel's command line read them."""
    named = (folders.REPO, folders.cache(), folders.state(), folders.runs())
    strange = [str(path) for path in named if set(str(path)) & _STRANGE or not str(path).isprintable()]
    what = "none has a blank, a quote, a comma or a backslash"
    remedy = "use other folders: CAUSEWAY_CACHE, CAUSEWAY_STATE, CAUSEWAY_RUNS, and the checkout's own"
    return Need("paths", not strange, what if not strange else f"a lab host cannot use {', '.join(strange)}", remedy)


def native_needs() -> list[Need]:
    """What a native lab host takes."""
    root = os.geteuid() == 0
    needs = [Need("root", root, "yes" if root else "no", "run as root")]
    for tool in ("docker", "containerlab", "tc", "ethtool"):
        found = _there(tool)
        needs.append(Need(tool, found, "found" if found else "not found", f"install {tool}"))
    for module in ("bonding", "openvswitch", "veth", "nfsd", "nfs"):
        found = _kernel_has(module)
        remedy = f"modprobe {module}, or use a kernel that has it"
        needs.append(Need(f"kernel: {module}", found, "there" if found else "not there", remedy))
    privileged, why = _privileged_containers()
    needs.append(Need("privileged containers", privileged, why, "use a machine that can start them"))
    return needs


def _kernel_has(module: str) -> bool:
    if Path("/sys/module", module).exists() or re.search(rf"\b{module}$", _FILESYSTEMS.read_text(), re.MULTILINE):
        return True
    if Path("/lib/modules", platform.release()).exists():
        return _there("modprobe") and run(["modprobe", "--dry-run", module]).rc == 0
    return module in _TRIALS and run(["unshare", "--net", *_TRIALS[module]]).rc == 0


def _privileged_containers() -> tuple[bool, str]:
    if not _there("docker"):
        return False, "no docker"
    try:
        if run(["docker", "info"], timeout_s=20).rc != 0:
            return False, "the docker daemon does not answer"
    except LabBroken as error:
        return False, str(error)
    try:  # docker starts every node with CAP_SYS_RESOURCE, which a container cannot get from nobody
        status = Path("/proc/self/status").read_text()
        capabilities = int(status.split("CapBnd:")[1].split()[0], 16)
    except (OSError, IndexError, ValueError):
        return False, "cannot read this process's capabilities"
    has = bool(capabilities & (1 << 24))
    return has, "they can start" if has else "CAP_SYS_RESOURCE is not there to give"


def choose() -> tuple[str, str]:
    """The lab host for this machine, and why: uml, unless the caller asks for the real clock.

    Virtual and paced time exist only in a UML lab host, and it needs nothing of the machine; so it is
    the choice even where a native one could run.
    """
    lacking = [need.what for need in native_needs() if need.lacking]
    if lacking:
        return "uml", f"a native lab host lacks here: {', '.join(lacking)}"
    return "uml", "links carry exactly their rate there; --clock real uses this machine itself"
