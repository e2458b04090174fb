"""The form of a site's file as a JSON schema, by which editors complete and check it.

It has the form alone: what the parts mean to each other (a link to a node that there is not) only `load_site` finds.
"""

import json
from typing import Any

from causeway.model.document import Topology


def schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12), from the model's own forms."""
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Topology.model_json_schema()
    _tighten(made)
    return made | {"title": "A site's file"}


def text() -> str:
    """The schema as a file has it."""
    return json.dumps(schema(), indent=1) + "\n"


def _tighten(part: Any) -> None:
    """Let a table have no names but those of its form, and drop the titles that pydantic makes of keys."""
    if isinstance(part, list):
        for inner in part:
            _tighten(inner)
    elif isinstance(part, dict):
        if "patternProperties" in part:
            part["additionalProperties"] = False
        for form in part.get("properties", {}).values():
            form.pop("title", None)
        for inner in list(part.values()):
            _tighten(inner)
