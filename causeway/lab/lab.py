"""The lab that is up on this lab host, and its nodes."""

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from causeway.errors import BadInput, LabBroken
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.process import Background, Result, run, start, transcript

#: Where the lab host keeps what it knows of its labs: LAB/ with the rendered files and lab.json.
LABS = Path("/run/causeway/labs")


@dataclass(frozen=True)
class Lab:
    """A deployed lab. Made by `deploy.up`; found again by `Lab.find`."""

    site: Site
    folder: Path

    @classmethod
    def find(cls, name: str | None = None) -> "Lab":
        """The lab of this name, or the only one. BadInput when there is none or no only one."""
        found = sorted(LABS.glob(f"{name or '*'}/lab.json"))
        if len(found) != 1:
            what = f"no lab {name}" if name else "no lab" if not found else "more than one lab"
            names = ", ".join(file.parent.name for file in found)
            remedy = f"name one of {names}" if found else "`causeway up` brings one up"
            raise BadInput(f"{what} is up on this lab host; {remedy}")
        folder = found[0].parent
        about = json.loads((folder / "lab.json").read_text())
        return cls(load_site(folder / "topology.yaml", about["io_nodes"]), folder)

    @property
    def bring_up_s(self) -> dict[str, float]:
        """What each part of bringing it up took, in seconds of wall time."""
        return dict(json.loads((self.folder / "lab.json").read_text())["bring_up_s"])

    def container(self, node: str) -> str:
        """The name that containerlab gives to a node's container."""
        return f"clab-{self.site.name}-{node}"

    @cached_property
    def pids(self) -> dict[str, int]:
        """Process id of each running container's first process."""
        template = "{{.Name}} {{.State.Pid}}"
        names = {self.container(node): node for node in self.site.nodes}
        result = run(["docker", "inspect", "--format", template, *names])
        pairs = (line.split() for line in result.stdout.splitlines())
        return {names[name.lstrip("/")]: int(pid) for name, pid in pairs if pid != "0"}

    def file(self, node: str, path: str) -> Path:
        """A file of a node, as the lab host sees it: reading it starts no process."""
        return Path(f"/proc/{self._pid(node)}/root") / path.lstrip("/")

    def read(self, node: str, path: str) -> str:
        """A file's text on a node; LabBroken when it cannot be read.

        Not for /proc and /sys: what they show depends on who reads. Use `on` for these.
        """
        transcript.typed(node, ["cat", path])
        try:
            return self.file(node, path).read_text()
        except OSError as error:
            raise LabBroken(f"{node}:{path}: {error.strerror}") from None

    def console_log(self, node: str) -> Path:
        """What an I/O node's board has written of its console since it was last switched on."""
        return self.folder / "service" / "logs" / f"{node}.log"

    def on(self, node: str, *argv: str, timeout_s: float = 60) -> Result:
        """Run a command on a node to its end."""
        return run(self.enter(node, argv), timeout_s=timeout_s)

    def start_on(self, node: str, *argv: str) -> Background:
        """Start a command on a node that runs beside what follows."""
        return start(self.enter(node, argv))

    def enter(self, node: str, argv: Sequence[str]) -> list[str]:
        """The command that runs argv on a node, from the lab host.

        nsenter does what `docker exec` does for a tenth of its time, and both clocks feel the difference.
        """
        transcript.typed(node, argv)
        return ["nsenter", "-a", "-t", str(self._pid(node)), *argv]

    def plug(self, node: str, argv: Sequence[str]) -> list[str]:
        """The command that runs the lab host's own argv on a node's network: adapters, routes, sockets.

        It asks nothing of the node, and so works where the node is off or its root hangs on a lost server.
        """
        transcript.typed(node, argv)
        return ["nsenter", "-n", "-t", str(self.board(node)), *argv]

    def _pid(self, node: str) -> int:
        """The first process of a node's own system. (/proc/PID/root is its files.)"""
        board = self.board(node)
        if self.site.nodes[node].role != "ion":
            return board
        pid = _first_child(board)
        if pid is None:
            raise LabBroken(f"{node} is off; bglallocate or bglpower on the service node switch it on")
        return pid

    def board(self, node: str) -> int:
        """The first process of a node's container, which for an I/O node is its board, powered or not."""
        if node not in self.site.nodes:
            raise BadInput(f"there is no node {node} in {self.site.name}; see `causeway status`")
        pid = self.pids.get(node)
        if pid is None or not os.path.exists(f"/proc/{pid}"):
            raise LabBroken(f"node {node} does not run")
        return pid

    def terminal(self, node: str) -> list[str]:
        """The command that runs a login shell on a node, on a terminal of the node's own."""
        argv = ["docker", "exec", "-it", self.container(node)]
        if self.site.nodes[node].role != "ion":
            return [*argv, "bash", "-l"]
        numbers = re.search(r"^NSpid:(.*)$", Path(f"/proc/{self._pid(node)}/status").read_text(), re.MULTILINE)
        assert numbers is not None  # one number a namespace of processes, the node's own is the last
        return [*argv, "nsenter", "-m", "-u", "-i", "-p", "-t", numbers[1].split()[-2], "sh", "-l"]

    def state(self, node: str) -> str:
        """How far a node's start is, in its own words: "up" when all of it is; "off" or "down" (no container)."""
        try:
            board = self.board(node)
        except LabBroken:
            return "down"
        if self.site.nodes[node].role == "ion" and (pid := _first_child(board)) is not None:
            return _read(f"/proc/{pid}/root/run/node-state") or "booting"
        return _read(f"/proc/{board}/root/run/node-state") or "starting"

    def booted_io_nodes(self) -> list[str]:
        return [node for node in self.nodes_of_role("ion") if self.state(node).startswith("up")]

    def nodes_of_role(self, *roles: str) -> list[str]:
        return [name for name, node in self.site.nodes.items() if node.role in roles]

    def check_known(self, nodes: Iterable[str]) -> None:
        """BadInput naming every node that the lab has not."""
        unknown = [node for node in nodes if node not in self.site.nodes]
        if unknown:
            known = ", ".join(self.site.nodes)
            raise BadInput(f"no such node: {', '.join(unknown)}; the nodes are {known}")


def _first_child(pid: int) -> int | None:
    """A board's only child is the first process of what has booted on it (or of the firmware, before that)."""
    children = _read(f"/proc/{pid}/task/{pid}/children").split()
    return int(children[0]) if children else None


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
