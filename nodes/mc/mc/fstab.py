"""/etc/fstab: a line for each filesystem that a node can mount, so that `mount /home1` does (bin/mount.mc).

Source: Redpaper, "On the local CLIENT cluster, mount the remote GPFS file systems".
"""

from pathlib import Path

from mc import mounts, native
from mc.config import Config

FILE = Path("/etc/fstab")
#: The type of our lines; all others are somebody else's, and stay. They begin with /dev/, as GPFS's do, though there is
#: no such file: mount(8) takes a bare name for one in the folder that it is called in.
_TYPE = "mc"


def write(config: Config) -> None:
    """Have it name the filesystems that this cluster knows now, and those that it knew no more."""
    text = FILE.read_text() if FILE.exists() else ""
    kept = [line for line in text.splitlines() if line.split()[2:3] != [_TYPE]]
    wanted = "".join(f"{line}\n" for line in [*kept, *_lines(config)])
    if wanted != text:
        native.write(FILE, wanted)


def _lines(config: Config) -> list[str]:
    owners = {f.name: f.cluster for f in config.remote_filesystems}
    lines = []
    for f in mounts.known(config):
        options = f"{f.access},dev={owners.get(f.name, config.name)}:{f.remote_name},noauto"
        lines.append(f"/dev/{f.name} {f.mount_point} {_TYPE} {options} 0 0")
    return lines
