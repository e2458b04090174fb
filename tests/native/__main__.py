"""Labs on a native lab host, for real: makes a machine that is one, and has `inside.py` play there.

    python -m tests.native                     small and jubl, all scenarios whose judgement needs no exact rate
    python -m tests.native small --keep FOLDER keeps what came out, and the machine's console

The machine is User-Mode Linux in its own plain clock, as root, with Docker, containerlab, bonding and Open vSwitch; its
disk is the lab host's. No patch of ours has a part in that clock. Exit codes: 0 all is well, 1 it is not.
"""

import argparse
import gzip
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from causeway.hosts import artefacts, memory

REPO = Path(__file__).resolve().parents[2]
MEMORY_MIB = 6144
TIMEOUT_S = 3600


def machine(folder: Path, sites: list[str]) -> list[str]:
    """Make a machine in a folder, which plays these sites; returns the command that starts it."""
    share, image = folder / "share", artefacts.LABHOST.folder
    share.mkdir()
    subprocess.run(["cp", "--sparse=always", image / "docker.img", share], check=True)
    (folder / "runs").mkdir()
    mounts = {"SHARE_DIR": share, "IMAGE_DIR": image, "REPO_DIR": REPO, "RUNS_DIR": folder / "runs"}
    (share / "env").write_text("".join(f"{name}='{path}'\n" for name, path in mounts.items()))
    # The lab host's own init up to where it begins to serve; there the tests play, by the tool as on any machine.
    begin, serves, end = (REPO / "images/labhost/labhost-init").read_text().partition("\tPYTHONPATH=")
    assert serves
    plays = f"\t(cd /causeway && exec python3 -m tests.native.inside {shlex.join(sites)} >/share/report.json)\n"
    (share / "init").write_text(f"{begin}\texport PYTHONPATH=/causeway:/opt/python\n{plays}{end.partition(chr(10))[2]}")
    (share / "init").chmod(0o755)
    first = (REPO / "images/labhost/initrd-init").read_text().replace("/sbin/labhost-init", "/share/init")
    (folder / "init").write_text(first)
    (folder / "init").chmod(0o755)
    archive = subprocess.run(
        ["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"],
        input=b"init\n",
        cwd=folder,
        capture_output=True,
        check=True,
    ).stdout
    # of two archives behind each other the kernel unpacks both, the later file over the earlier one
    (folder / "initrd.gz").write_bytes((image / "initrd.gz").read_bytes() + gzip.compress(archive))
    kernel = [str(artefacts.KERNEL.folder / "linux"), f"mem={MEMORY_MIB}M", f"initrd={folder / 'initrd.gz'}"]
    return [*kernel, "share=share", "seccomp=on", f"uml_dir={folder / 'uml'}", "con0=null,fd:1", "con=null", "quiet"]


def play(words: list[str], folder: Path) -> list[dict[str, Any]]:
    """Run the machine until it switches itself off, and pass on what it says; returns its report."""
    env = {"HOME": str(folder), "TMPDIR": str(memory.FOLDER)}
    with subprocess.Popen(
        words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as kernel:
        try:
            assert kernel.stdout is not None
            with (folder / "console").open("wb") as console:
                for line in kernel.stdout:
                    console.write(line)
                    sys.stderr.write(line.decode(errors="replace"))
        finally:
            kernel.kill()  # its own processes end with it
    report = folder / "share" / "report.json"
    return [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.native", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sites", nargs="*", default=["small", "jubl"])
    parser.add_argument("--keep", type=Path, help="a folder for the report, the console and the runs")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="causeway-native-") as temporary:
        folder = Path(temporary)
        report = play(machine(folder, wanted.sites), folder)
        if wanted.keep:
            wanted.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "console", wanted.keep)
            shutil.copytree(folder / "runs", wanted.keep / "runs", dirs_exist_ok=True, symlinks=True)
            (wanted.keep / "report.json").write_text(json.dumps(report, indent=1))
    wrong = [line for line in report if line["wrong"]]
    for line in report:
        how = "WRONG" if line["wrong"] else "well "
        print(f"{how}  {line['site']}: {line['what']} ({line['s']:.0f} s) {line['wrong']}")
    unplayed = set(wanted.sites) - {line["site"] for line in report if line["what"] == "nothing is left"}
    if unplayed:
        print(f"not played to the end: {', '.join(sorted(unplayed))}; --keep keeps the console")
    return 1 if wrong or unplayed else 0


if __name__ == "__main__":
    sys.exit(main())
