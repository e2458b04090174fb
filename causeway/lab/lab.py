"""The lab that is up on this lab host, and its nodes."""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from causeway import folders
from causeway.errors import BadInput, LabBroken
from causeway.folders import LABS
from causeway.lab import boards, clock
from causeway.lab.rooted import inside
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.process import Background, Result, run, start, transcript

#: Results, which outlive a lab: where a lab host of its own sees the folder outside.
RUNS = Path("/runs") if clock.is_uml() else folders.runs()


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
        return cls(load_site(folder / "topology.yaml", about["counts"]), folder)

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Hold the lab for one run. BadInput, at once, while another one plays in it."""
        with (self.folder / "playing").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BadInput(
                    f"another run plays in {self.site.name}; wait for its end, or bring up one more"
                ) from None
            yield

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
        """A file of a node, as the lab host sees it: reading it starts no process. Links are followed on the node."""
        return inside(Path(f"/proc/{self._pid(node)}/root"), path)

    def read(self, node: str, path: str) -> str:
        """A file's text on a node; LabBroken when it cannot be read.

        Not for /proc and /sys: what they show depends on who reads. Use `on` for these.
        """
        transcript.typed(node, ["cat", path])
        try:
            return self.file(node, path).read_text()
        except OSError as error:
            raise LabBroken(f"{node}:{path}: {error.strerror}") from None

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
        pid = boards.root(self.site, node, self.board(node))
        if pid is None:
            raise LabBroken(f"{node} is off; the node that it boots from can switch it on")
        return pid

    def board(self, node: str) -> int:
        """The first process of a node's container, which for a diskless node is its board, powered or not."""
        if node not in self.site.nodes:
            raise BadInput(f"there is no node {node} in {self.site.name}; see `causeway status`")
        pid = self.pids.get(node)
        if pid is None or not os.path.exists(f"/proc/{pid}"):
            raise LabBroken(f"node {node} does not run")
        return pid

    def terminal(self, node: str) -> list[str]:
        """The command that runs a login shell on a node, on a terminal of the node's own."""
        return ["docker", "exec", "-it", self.container(node), *boards.shell(self.site, node, self._pid(node))]

    def state(self, node: str) -> str:
        """How far a node's start is, in its own words: "up" when all of it is; "off" or "down" (no container)."""
        try:
            board = self.board(node)
        except LabBroken:
            return "down"
        return boards.state(self.site, node, board)

    def booted(self) -> list[str]:
        """The diskless nodes that are up."""
        return [node for node in self.site.diskless() if self.state(node).startswith("up")]

    def check_known(self, nodes: Iterable[str]) -> None:
        """BadInput naming every node that the lab has not."""
        unknown = [node for node in nodes if node not in self.site.nodes]
        if unknown:
            known = ", ".join(self.site.nodes)
            raise BadInput(f"no such node: {', '.join(unknown)}; the nodes are {known}")
