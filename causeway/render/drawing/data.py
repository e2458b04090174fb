"""Data for the script on a drawing's page, as an element that is well-formed in HTML and in XML."""

import json
from typing import Any

#: What could end the element, or begin another; in JSON they are only ever in texts.
_ODD = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def data_part(name: str, value: Any) -> str:
    """The element with this id, whose text is JSON."""
    text = json.dumps(value, separators=(",", ":"))
    for odd, escaped in _ODD.items():
        text = text.replace(odd, escaped)
    return f'<script type="application/json" id="{name}">{text}</script>'
