"""The page of the form of a site's file, from the model's own forms, around a text that stands beside this file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from causeway.docs.markdown import page_from, table
from causeway.folders import REPO
from causeway.model.schema import schema

TEXT = Path(__file__).with_name("sites.md")
_FORMATS = {"ipv4": "address", "ipv4network": "prefix", "port": "`NODE:DEVICE`"}


def sites_page() -> str:
    """A section for the file and for each of the forms in it, in the order in which they are first asked for."""
    return page_from(TEXT, {"forms": list(_forms())[:-1]}, REPO / "causeway/model")


def _forms() -> Iterator[str]:
    whole = schema()
    known = whole.pop("$defs")
    waiting, seen = [("The file", whole)], set()
    while waiting:
        title, form = waiting.pop(0)
        yield from (f"## {title}", "", " ".join(form.get("description", "").split()), "")
        required = form.get("required", [])
        rows = []
        for key, value in form["properties"].items():
            default = "" if key in required else _default(value)
            rows.append([f"`{key}`", _said(value), default])
            for name in _asked_for(value):
                if name not in seen:
                    seen.add(name)
                    waiting.append((name, known[name]))
        yield from table("key|what it takes|default", rows)


def _asked_for(value: Any) -> Iterator[str]:
    """The names of the forms that a value may have."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref":
                yield inner.rsplit("/", 1)[1]
            elif key != "discriminator":
                yield from _asked_for(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _asked_for(inner)


def _said(value: dict[str, Any]) -> str:
    """A value's form in words."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if choices := value.get("anyOf") or value.get("oneOf"):
        return " or ".join(dict.fromkeys(_said(choice) for choice in choices if choice != {"type": "null"}))
    if "const" in value or "enum" in value:
        return " or ".join(f"`{word}`" for word in value.get("enum", [value.get("const")]))
    match value.get("type"):
        case "array":
            return f"[{_said(value['items'])}, ...]"
        case "object":
            inner = value.get("additionalProperties") or next(iter(value["patternProperties"].values()))
            return f"NAME: {_said(inner)}"
        case "integer" | "number":
            bounds = [value[bound] for bound in ("minimum", "maximum") if bound in value]
            return (
                " to ".join(map(str, bounds))
                if len(bounds) == 2
                else f"number from {bounds[0]}"
                if bounds
                else "number"
            )
        case "boolean":
            return "true or false"
        case "string":
            return _FORMATS.get(value.get("format", ""), "word")
    return "anything"


def _default(value: dict[str, Any]) -> str:
    if "default" not in value:
        return "by the other keys"
    default = value["default"]
    return "none" if default in (None, [], {}) else f"`{str(default).lower() if default is False else default}`"
