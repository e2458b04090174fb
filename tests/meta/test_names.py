"""General code names no site: no node, cluster, network, filesystem or pool of a shipped one; and no kind's word
outside the files of that kind."""

import ast
import re
from collections.abc import Iterable, Iterator

import pytest
import yaml

from causeway.folders import REPO
from tests.sites.renamed import names_of

SITES = [yaml.safe_load(file.read_text()) for file in sorted((REPO / "topologies").glob("*/site.yaml"))]
#: Words of a kind; its files are those that are called for it, and scenarios that ask for it by name.
KINDS = {
    "bluegene": ("bluegene", "bgl", "ion", "ionode", "ionodes"),
    "onesis": ("onesis", "sysimage"),
    "gluster": ("gluster", "glusterfs", "glusterd"),
}
#: Where kinds are found by their names: one line for each.
TABLES = re.compile(r"/(pools|filesystems)/__init__\.py$|^causeway/hosts/artefacts\.py$")
#: Names of sites that are words of the language, too: they count as whole constants only, never as parts of texts.
_COMMON = re.compile(r"[a-z]{1,7}")
#: Whole constants that mean something else: the ends of a cable, an element of SVG, mebibytes, a file that is locked,
#: a start script.
OTHER_MEANING = {
    "causeway/cli/tables.py": {"b"},
    "causeway/docs/costs.py": {"io"},  # the scenario
    "causeway/lab/status.py": {"b"},
    "causeway/render/drawing/svg.py": {"g"},
    "causeway/lab/probes/fio.py": {"m"},
    "causeway/hosts/labs.py": {"lock"},
    "causeway/hosts/launcher.py": {"lock"},
    "causeway/hosts/uml.py": {"lock"},
    "scenarios/ntp_server_unrouted.py": {"federation"},  # in the name of a start script
}
#: Files still to be mended, whatever is in them. Whoever mends one takes it out; nobody puts one in.
SITES_NAMED: set[str] = set()
KINDS_SAID = {
    "causeway/model/topology.py",  # the drivers that there are, as a filesystem's form has them
}


def site_names() -> set[str]:
    """The names of all shipped sites; not the sites' own, by which a scenario may say that it belongs to one.

    Nor blocks: they are named by who boots them, in capitals as constants are.
    """
    blocks = {block for site in SITES for pool in site.get("pools", {}).values() for block in pool.get("blocks", {})}
    return set().union(*(names_of(site) for site in SITES)) - {site["lab"] for site in SITES} - blocks


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The string constants of a module, and parts of f-strings, with their lines; no docstrings and no formats."""
    docs = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            docs.add(id(node.body[0].value))  # type: ignore[attr-defined]
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:  # how a number is written
            docs |= {id(part) for part in ast.walk(node.format_spec)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


def identifiers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The names that a module gives or uses, with their lines."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield getattr(node, "lineno", 0), value


def words(text: str) -> list[str]:
    """The words of a text or an identifier, host names in one piece, snake_case and CamelCase taken apart."""
    return re.findall(r"[A-Za-z0-9-]+", text)


def parts(identifier: str) -> list[str]:
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", identifier)]


def named(source: str, names: Iterable[str]) -> list[str]:
    """The names of sites in a module, as NAME:LINE. A common word counts only where it is all of a constant."""
    plain = set(names)
    special = {name for name in plain if not _COMMON.fullmatch(name)}
    tree = ast.parse(source)
    found = [(line, text) for line, text in strings(tree) if text in plain]
    found += [(line, word) for line, text in strings(tree) for word in words(text) if word in special and word != text]
    found += [(line, name) for line, name in identifiers(tree) if name in special]
    return [f"{name}:{line}" for line, name in sorted(set(found))]


def said(source: str, kind: Iterable[str]) -> list[str]:
    """The words of a kind in a module, as WORD:LINE: in its texts, and as parts of what it gives a name to."""
    theirs = set(kind)
    tree = ast.parse(source)
    found = [(line, w.lower()) for line, text in strings(tree) for w in re.findall(r"[A-Za-z]+", text)]
    found += [(line, part) for line, name in identifiers(tree) for part in parts(name)]
    return [f"{word}:{line}" for line, word in sorted(set(found)) if word in theirs]


def modules(*folders: str) -> dict[str, str]:
    """path -> source of every module in these folders."""
    found = [file for folder in folders for file in sorted((REPO / folder).rglob("*.py"))]
    return {str(file.relative_to(REPO)): file.read_text() for file in found}


def asks_for(source: str, kind: str) -> bool:
    """Whether a scenario asks the site for that platform or driver."""
    return any(
        isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant) and node.value.value == kind
        for node in ast.walk(ast.parse(source))
    )


def with_names(sources: dict[str, str]) -> dict[str, list[str]]:
    """path -> NAME:LINE, for the modules that name a site."""
    names = site_names()
    found = {path: named(source, names - OTHER_MEANING.get(path, set())) for path, source in sources.items()}
    return {path: hits for path, hits in found.items() if hits}


def with_words(sources: dict[str, str], kind: str) -> dict[str, list[str]]:
    """path -> WORD:LINE, for the modules that are no kind's own and say its words."""
    found = {
        path: said(source, KINDS[kind])
        for path, source in sources.items()
        if kind not in path and not TABLES.search(path) and not asks_for(source, kind)
    }
    return {path: hits for path, hits in found.items() if hits}


def test_general_code_names_no_site() -> None:
    found = with_names(modules("causeway", "labs", "scenarios"))
    assert {path: hits for path, hits in found.items() if path not in SITES_NAMED} == {}
    assert SITES_NAMED - found.keys() == set(), "mended: take them out of the list"


def test_a_kinds_words_stand_in_its_own_files() -> None:
    sources = modules("causeway", "labs", "scenarios")
    found = {path: hits for kind in KINDS for path, hits in with_words(sources, kind).items()}
    assert {path: hits for path, hits in found.items() if path not in KINDS_SAID} == {}
    assert KINDS_SAID - found.keys() == set(), "mended: take them out of the list"


@pytest.mark.parametrize(
    ("source", "found"),
    {
        'node = "nsd01"': ["nsd01:1"],
        'print(f"{x} of nsd01-b and SN")': ["SN:1"],
        'print("nsd01f is up")\n\n\ndef zam870(): ...': ["nsd01f:1", "zam870:4"],
        '"""As the Redpaper has it: nsd01."""': [],
        'network = "b"': ["b:1"],
        'print("a b c")': [],
        'print("it does not work")': [],
        'name = "work"': ["work:1"],
        "nsd01 = SN.zam870": ["SN:1", "nsd01:1", "zam870:1"],
        "def f(work): b = work": [],
    }.items(),
)
def test_a_name_of_a_site_is_found_where_it_is_one(source: str, found: list[str]) -> None:
    names = {"nsd01", "nsd01f", "SN", "zam870", "b", "f", "work"}
    assert named(source, names) == found


@pytest.mark.parametrize(
    ("source", "found"),
    {
        "from causeway.lab.pools import bluegene": ["bluegene:1"],
        "class IonThing: ...": ["ion:1"],
        "booted_ions = 1": [],
        'run("bglpower on")': [],
        'run(". /etc/bgl/profile")': ["bgl:1"],
        "version, region = action": [],
        '"""Of the BlueGene."""': [],
    }.items(),
)
def test_a_kinds_word_is_found_in_texts_and_in_names(source: str, found: list[str]) -> None:
    assert said(source, KINDS["bluegene"]) == found


def test_a_scenario_that_asks_for_a_kind_may_use_its_words() -> None:
    asks = 'from x import bluegene\ndef cast(ask): return ask.diskless(8, platform="bluegene")'
    assert with_words({"scenarios/one.py": asks, "scenarios/bluegene_two.py": "bgl = 1"}, "bluegene") == {}
    assert with_words({"scenarios/one.py": "bgl = 1"}, "bluegene") == {"scenarios/one.py": ["bgl:1"]}
