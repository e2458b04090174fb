"""What the help of each mc command says that it does natively: held against the source, and against what -v prints.

The source tells which commands an action can start: every call that starts one, in every function that the
action's can reach. Where a command needs no lab, it is done as well.
"""

import ast
import re
import shlex
import threading
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from causeway.docs.mc import mc_commands
from mc import drivers, main, native
from mc.config import Config, Filesystem, Node, RemoteCluster, load, save
from tests.unit.mc_node import HERE, Does, like

SOURCE = Path(__file__).parents[2] / "nodes/mc/mc"
MODULES = {
    ".".join(file.relative_to(SOURCE).with_suffix("").parts): ast.parse(file.read_text(), str(file))
    for file in SOURCE.rglob("*.py")
}
COMMANDS = dict(mc_commands())
#: Functions that start what they are called with.
STARTERS = {("native", "run"), ("native", "must"), ("drivers.gluster", "_gluster")}
#: The driver whose help the commands give, and the modules that it gives them as its own parts (driver.Driver).
DRIVER, PARTS = f"drivers.{drivers.DEFAULT}", {"KEYS": "keys"}

Name = tuple[str, str]


def definitions() -> dict[Name, ast.AST]:
    """Every function, class and variable of the modules, by module and name."""
    found: dict[Name, ast.AST] = {}
    for module, tree in MODULES.items():
        for node in tree.body:
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    found[module, name] = node
                case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
                    found[module, name] = node
    return found


def imports(module: str) -> dict[str, str | Name]:
    """What a module calls other modules, and things of theirs."""
    found: dict[str, str | Name] = {}
    for node in MODULES[module].body:
        match node:
            case ast.ImportFrom(module="mc", names=names):
                found |= {name.asname or name.name: name.name for name in names}
            case ast.ImportFrom(module=str(source), names=names) if source.startswith("mc."):
                found |= {name.name: (source.removeprefix("mc."), name.name) for name in names}
    return found


#: How a change gets to the other nodes.
GIVE = {"tar", "ssh", "scp", "sh"}
DEFINED = definitions()
IMPORTED = {module: imports(module) for module in MODULES}


def meant(module: str, node: ast.AST) -> Name | None:
    """What of the modules a word in one of them means."""
    found: str | Name | None = None
    match node:
        case ast.Name(name):
            found = IMPORTED[module].get(name, (module, name))
        case ast.Attribute(of, name) if is_driver(of):
            found = (DRIVER, name)
        case ast.Attribute(ast.Attribute(of, part), name) if is_driver(of) and part in PARTS:
            found = (PARTS[part], name)
        case ast.Attribute(ast.Name(alias), name) if isinstance(IMPORTED[module].get(alias), str):
            found = (str(IMPORTED[module][alias]), name)
    return found if isinstance(found, tuple) and found in DEFINED else None


def is_driver(node: ast.AST) -> bool:
    """Whether this is the cluster's driver: what drivers.of gives, or the variable `driver` that holds it."""
    return ast.unparse(node.func if isinstance(node, ast.Call) else node) in ("drivers.of", "driver")


def reachable(start: Name) -> set[Name]:
    """All that a function can get to, itself included. Who only names a function may call it."""
    found, new = {start}, [start]
    while new:
        module, name = new.pop()
        nodes = list(ast.walk(DEFINED[module, name]))
        own = {n.arg for n in nodes if isinstance(n, ast.arg)}
        own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - {name}
        free = (n for n in nodes if not (isinstance(n, ast.Name) and n.id in own))
        others = {other for node in free if (other := meant(module, node))}
        new += others - found - STARTERS
        found |= others - STARTERS
    return found


def words(items: list[ast.expr]) -> str:
    """The words that a command begins with, its options left out; "" where the program is not written there."""
    said: list[str] = []
    for item in items:
        match item:
            case ast.Constant(str(word)) if not word.startswith("-"):
                said.append(word if said else Path(word).name)
            case ast.Starred() | ast.Constant(str()) | ast.JoinedStr([ast.Constant(str()), *_]) if is_long(item):
                continue
            case _:
                break
    return " ".join(said)


def is_long(item: ast.expr) -> bool:
    """Whether this can only be --options, behind which words of the command still come."""
    text = ast.unparse(item)
    return text.startswith(("*remote", "'--", "f'--"))


def started(name: Name) -> Iterator[tuple[str, bool]]:
    """The commands that a function starts itself, and whether -v is silent about it (a probe)."""
    module = name[0]
    lists = {
        target.id: node.value.elts
        for node in ast.walk(DEFINED[name])
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(DEFINED[name]):
        if not isinstance(node, ast.Call) or meant(module, node.func) not in STARTERS:
            continue
        quiet = any(keyword.arg == "quiet" for keyword in node.keywords)
        match node.args:
            case _ if ast.unparse(node.func) == "_gluster":
                yield words([ast.Constant("gluster"), *node.args]), quiet
            case [ast.List(items), *_]:
                yield words(items), quiet
            case [ast.Name(variable), *_] if variable in lists:
                yield words(lists[variable]), quiet
            case [ast.Call(function, []), *_] if callee := meant(module, function):
                (returned,) = (n.value for n in ast.walk(DEFINED[callee]) if isinstance(n, ast.Return))
                assert isinstance(returned, ast.List)
                yield words(returned.elts), quiet
            case [ast.Call(ast.Attribute(_, "split")), *_]:
                pass  # an mc command, given as text by a caller that does it on other nodes
            case _:
                pytest.fail(f"mc/{module}.py:{node.lineno}: cannot tell which command is started there")


def can_start(command: str) -> tuple[set[str], set[str]]:
    """What a command can start: all of it, and what -v prints of it."""
    action = COMMANDS[command].get_default("action")
    begun = [s for name in reachable((action.__module__.removeprefix("mc."), action.__name__)) for s in started(name)]
    return {text for text, _ in begun}, {text for text, quiet in begun if not quiet}


def told(command: str) -> tuple[set[str], set[str]]:
    """What a command's help says: native commands, and files as patterns."""
    commands: set[str] = set()
    files: set[str] = set()
    for text in re.findall(r"`([^`]+)`", COMMANDS[command].epilog or ""):
        text = " ".join(text.split())
        if text in COMMANDS:
            commands |= told(text)[0]
        elif text.startswith(("gen/", "ssl/", "/")):
            files.add(text)
        else:
            commands.add(" ".join(word for word in text.split() if not word.startswith("-")))
    return commands, files


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_each_native_command_that_the_source_can_start_and_no_other(command: str) -> None:
    everything, printed = can_start(command)
    commands, _ = told(command)
    assert commands <= everything, "said, and in the source there is no such thing"
    assert printed <= commands, "in the source, and not said"


def test_what_is_read_from_the_source_is_what_stands_there() -> None:
    assert can_start("mcauth genkey") == ({"openssl req", *GIVE}, {"openssl req", *GIVE})
    assert "gluster volume create" in can_start("mccrfs")[1]
    assert can_start("mclsnode")[1] == set()


@pytest.fixture
def owner(cluster: Config, others: dict[str, str], var: Path) -> Config:
    """Cluster blue knows green, both as owner and as client, and has a node that does not answer."""
    away = Node(2, "127.0.0.2", "127.0.0.2", "nonquorum")
    save(
        like(
            cluster,
            nodes=[HERE, away],
            clusters=["green.example"],
            filesystems=[Filesystem("work", "/nowhere/work", HERE.name, "/disks/work/brick")],
            remote_clusters=[RemoteCluster("green.example", "n1")],
        ),
        var,
    )
    for name in ("authorized_cluster.green.example", "known_cluster.green.example"):
        (var / "ssl" / name).write_text(Path(others["green"]).read_text())
    drivers.of(load()).trust(load())
    return load()


#: command -> what is typed, one after the other, in a cluster as `owner` makes it
WITHOUT_A_LAB = {
    "mcauth genkey": ["mcauth genkey new", "mcauth genkey new", "mcauth genkey commit"],
    "mcauth add": ["mcauth add red.example -k {red}"],
    "mcauth update": ["mcauth update green.example -k {two}"],
    "mcauth delete": ["mcauth delete green.example"],
    "mcauth show": ["mcauth show"],
    "mcremotecluster update": ["mcremotecluster update green.example -k {two}"],
    "mcremotecluster delete": ["mcremotecluster delete green.example"],
    "mcremotecluster show": ["mcremotecluster show"],
    "mcremotefs add": ["mcremotefs add home1 -C green.example -T /nowhere/home1"],
    "mcremotefs delete": ["mcremotefs add home1 -C green.example -T /nowhere/home1", "mcremotefs delete home1"],
    "mcremotefs show": ["mcremotefs show"],
    "mcchconfig": ["mcauth genkey new", "mcchconfig cipherList=AUTHONLY"],
    "mcdelnode": ["mcdelnode 127.0.0.2"],
    "mclscluster": ["mclscluster"],
    "mclsnode": ["mclsnode"],
    "mclsconfig": ["mclsconfig"],
    "mclsmount": ["mclsmount"],
}
#: Files that a command changes when it is done with options that need a lab: contacts are looked up in DNS.
WITH_A_LAB = {"mcremotecluster update": {"gen/remote_clusters"}}
#: Steps of -v that are changes of files in /var/mc, which are compared themselves. (A command of ours that
#: one does on this node says by its own help what it does.)
OF_FILES = ("write", "ln", "rm")


def contents(var: Path) -> dict[str, str]:
    """Each file of the configuration, and what a link leads to; but not the number that each change gets."""
    found = [file for part in ("gen", "ssl") for file in (var / part).glob("*")]
    texts = {str(f.relative_to(var)): str(f.readlink()) if f.is_symlink() else f.read_text() for f in found}
    texts["gen/cluster"] = re.sub(r"^generation .*", "", texts["gen/cluster"], flags=re.MULTILINE)
    return texts


@pytest.mark.parametrize("command", WITHOUT_A_LAB)
@pytest.mark.usefixtures("owner")
def test_what_a_command_prints_with_v_and_changes_is_what_its_help_says(
    command: str, does: Does, others: dict[str, str], var: Path
) -> None:
    commands, files = told(command)
    printed: set[str] = set()
    changed: set[str] = set()
    for line in WITHOUT_A_LAB[command]:
        before = contents(var)
        said = does(f"{line.format(**others)} -v")
        assert said.rc == 0, said.err
        if not line.startswith(command):
            continue
        steps = [shlex.split(step.removeprefix("+ ")) for step in said.err.splitlines() if step.startswith("+ ")]
        printed |= {" ".join(step) for step in steps if step[0] not in (*OF_FILES, *main.COMMANDS)}
        after = contents(var)
        changed |= {file for file in before | after if before.get(file) != after.get(file)}
    for step in printed:
        assert any(step.startswith(c) for c in commands), f"-v printed {step}, and the help does not say it"
    kept = {pattern for pattern in files if not pattern.startswith("/")}
    unsaid = {file for file in changed if not any(fnmatchcase(file, pattern) for pattern in kept)}
    assert not unsaid, "changed, and the help does not say it"
    idle = {pattern for pattern in kept if not any(fnmatchcase(file, pattern) for file in changed)}
    assert idle == WITH_A_LAB.get(command, set()), "the help says that it changes, and it does not"


def test_a_command_that_takes_too_long_keeps_nobody_waiting_whoever_holds_its_output() -> None:
    begun = time.monotonic()
    assert native.run(["sh", "-c", "sleep 30 & wait"], timeout_s=0.2).rc == native.TIMED_OUT
    assert time.monotonic() - begun < 20


def test_work_side_by_side_comes_in_the_order_of_its_items_and_fails_by_the_first() -> None:
    at_once, most = 0, 0
    lock = threading.Lock()

    def slow(item: int) -> int:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.02 * (4 - item))
        with lock:
            at_once -= 1
        if item > 1:
            raise native.Refused(str(item))
        return item

    assert native.side_by_side(slow, [1, 0, -1], at_once=2) == [1, 0, -1] and most == 2
    assert native.side_by_side(slow, []) == []
    with pytest.raises(native.Refused, match=r"^2$"):
        native.side_by_side(slow, [0, 2, 3])
