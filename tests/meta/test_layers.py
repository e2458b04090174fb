"""The house by its imports: they go one way, in no circle, and one module starts processes."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from causeway.folders import REPO

#: From the ground up; who stands side by side does not know the other. A module imports from lower floors and its own.
FLOORS = (
    {"errors", "folders", "interrupts", "meminfo"},
    {"process", "wait", "keys", "took"},
    {"model", "report"},
    {"plan"},
    {"render"},
    {"rehearse", "collect"},
    {"lab"},
    {"scenario"},
    {"play", "lessons"},
    {"hosts"},
    {"cli"},
    {"docs", "__main__"},
)
#: The report stands apart: it is written from results alone.
REPORT_KNOWS = {"errors", "report"}
#: Who may begin a process but causeway/process.py, and why.
STARTERS = {
    "causeway/process.py",
    "causeway/hosts/launcher.py",  # the kernel: it must die with its launcher, and be set to a CPU before it begins
    "causeway/hosts/agent.py",  # forks to become a job, with the tool already loaded
    "nodes/mc/mc/native.py",
    "nodes/mc/mc/daemons.py",  # one that outlives the command
    "nodes/mc/mc/leased.py",  # becomes a daemon, and tells who has started it that it has begun
}


def imported(tree: ast.AST) -> Iterator[str]:
    """Each name that a module imports, whole: of `from a.b import c` both a.b and a.b.c, for c may be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def graph(root: Path, package: str) -> dict[str, set[str]]:
    """Each module of a package, and those of the package that it imports."""
    files = {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
        for file in (root / package).rglob("*.py")
    }
    found = {name: set(imported(ast.parse(file.read_text()))) & files.keys() - {name} for name, file in files.items()}
    # a package is imported by whoever imports a module of it, which is no arrow of the house's
    return {name: {other for other in others if not name.startswith(f"{other}.")} for name, others in found.items()}


def upwards(arrows: Mapping[str, set[str]]) -> list[str]:
    """The arrows that do not go down."""
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}

    def top(module: str) -> str:
        return module.split(".")[1] if "." in module else module

    wrong = []
    for module, others in arrows.items():
        for other in others - {"causeway"}:
            here, there = top(module), top(other)
            apart = here == "report" and there not in REPORT_KNOWS
            if apart or (here != there and floor.get(there, 99) >= floor.get(here, -1)):
                wrong.append(f"{module} imports {other}")
    return sorted(wrong)


def starts(tree: ast.AST) -> bool:
    """Whether a module begins processes by itself."""
    begins = {"fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp", "startfile"}
    called = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os"
    }
    if any(name in begins or name.startswith(("exec", "spawn")) for name in called):
        return True
    return bool({"subprocess", "multiprocessing", "pty"} & {name.split(".")[0] for name in imported(tree)})


ARROWS = graph(REPO, "causeway")


def test_imports_go_one_way() -> None:
    assert upwards(ARROWS) == []


def test_imports_go_in_no_circle() -> None:
    list(TopologicalSorter(ARROWS).static_order())
    list(TopologicalSorter(graph(REPO / "nodes" / "mc", "mc")).static_order())


def test_every_module_is_on_a_floor() -> None:
    known = set().union(*FLOORS)
    assert {name.split(".")[1] for name in ARROWS if "." in name} <= known


def test_one_module_starts_processes_and_those_that_are_declared() -> None:
    files = [*(REPO / "causeway").rglob("*.py"), *(REPO / "nodes" / "mc" / "mc").rglob("*.py")]
    files += (REPO / "scenarios").glob("*.py")
    found = {str(file.relative_to(REPO)) for file in files if starts(ast.parse(file.read_text()))}
    assert found == STARTERS


@pytest.mark.parametrize(
    ("module", "other", "wrong"),
    [
        ("causeway.model.site", "causeway.plan.paths", True),
        ("causeway.plan.paths", "causeway.model.site", False),
        ("causeway.lab.lab", "causeway.scenario.stage", True),
        ("causeway.lab.lab", "causeway.lab.clock", False),
        ("causeway.report.page", "causeway.model.site", True),
        ("causeway.report.page", "causeway.report.result", False),
        ("causeway.scenario.stage", "causeway.report.result", False),
        ("causeway.process", "causeway.wait", True),
        ("causeway.plan.paths", "causeway.nobody_knows", True),
    ],
)
def test_an_arrow_that_goes_up_is_found(module: str, other: str, wrong: bool) -> None:
    assert upwards({module: {other}}) == ([f"{module} imports {other}"] if wrong else [])


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "house").mkdir()
    for name, text in {"__init__": "", "a": "from house import b\n", "b": "import house.a\n"}.items():
        (tmp_path / "house" / f"{name}.py").write_text(text)
    arrows = graph(tmp_path, "house")
    assert arrows == {"house": set(), "house.a": {"house.b"}, "house.b": {"house.a"}}
    with pytest.raises(CycleError):
        list(TopologicalSorter(arrows).static_order())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import subprocess", True), ("from subprocess import run", True), ("import os\nos.execvp('a', [])", True),
        ("import os\nos.fork()", True), ("def f():\n    import subprocess", True), ("os.spawnl(0, 'a')", True),
        ("from causeway.process import run\nrun(['a'])", False), ("import os\nos.getpid()", False),
        ("'os.fork()'", False),
    ],
)  # fmt: skip
def test_who_starts_a_process_is_found(text: str, found: bool) -> None:
    assert starts(ast.parse(text)) is found
