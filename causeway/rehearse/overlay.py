"""A folder of native files in the place of rendered ones: what the prediction makes of them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from causeway.model.site import Site
from causeway.rehearse import interfaces
from causeway.rehearse.lacks import COMPARED, Overlay
from causeway.rehearse.state import State
from causeway.render.overlay import check_overlay
from causeway.render.secrets import Secrets
from causeway.render.site import render
from causeway.render.text import Files

_INTERFACES = "etc/network/interfaces"
_TUNABLES = "etc/sysctl.d/"


def read_overlay(site: Site, folder: Path) -> tuple[Overlay, list[str]]:
    """The texts of such a folder, and what is no text; BadInput where it is none for this site."""
    check_overlay(folder, site.nodes, site.diskless())
    found: dict[str, dict[str, str]] = {}
    said = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        node, *parts = file.relative_to(folder).parts
        try:
            found.setdefault(node, {})["/".join(parts)] = file.read_text()
        except UnicodeDecodeError:
            said.append(f"{node}: /{'/'.join(parts)}: this is no text")
    return found, said


def apply_overlay(state: State, overlay: Overlay) -> Iterator[str]:
    """Give nodes what their files say; yields what is not predicted, and what would fail."""
    rendered = render(state.site, Secrets(state.site))
    for node, files in overlay.items():
        for path, text in files.items():
            if path == _INTERFACES:
                said = interfaces.apply_file(state, node, text)
                yield from (f"{node}: /{path}: {what}" for what in said)
            elif not path.startswith(_TUNABLES) and path not in COMPARED:
                yield f"{node}: /{path}: a file of its kind is not interpreted"
        if any(path.startswith(_TUNABLES) for path in files):
            yield from _tunables(state, node, rendered, files)


def _tunables(state: State, node: str, rendered: Files, own: Mapping[str, str]) -> Iterator[str]:
    """As sysctl reads them: all files in the order of their names, the last one counts."""
    begin = f"nodes/{node}/"
    had = {path.removeprefix(begin): file.text for path, file in rendered.items() if path.startswith(begin + _TUNABLES)}
    has = {path: text for path, text in own.items() if path.startswith(_TUNABLES)}
    before, after = _settings(had), _settings({**had, **has})
    for key, value in after.items():
        if before.get(key) != value:
            state.set_tunable(node, key, value)
    for key in sorted(before.keys() - after.keys()):
        yield f"{node}: {key} is set no more, and its default is not known"


def _settings(files: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(path for path in files if path.endswith(".conf")):
        for line in files[path].splitlines():
            key, equals, value = line.partition("=")
            if equals and not line.lstrip().startswith(("#", ";")):
                found[key.strip().lstrip("-").replace("/", ".")] = value.strip()
    return found
