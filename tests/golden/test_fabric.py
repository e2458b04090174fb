"""What a fabric's switches are rendered to, word by word.

tests/golden/xe/ holds the expected text; after a change that is meant, rewrite it and read the difference:

    UPDATE_GOLDEN=1 python -m pytest tests/golden/test_fabric.py && git diff tests/golden/xe
"""

import os
import re
from pathlib import Path

import pytest

from causeway.model.load import load_site
from causeway.plan.hardware import mac_address
from causeway.render.secrets import Secrets
from causeway.render.site import render

REPO = Path(__file__).parents[2]
GOLDEN = REPO / "tests/golden/xe"
SITE = load_site(REPO / "topologies/xe/site.yaml")
FILES = render(SITE, Secrets(SITE))

EXACT = [
    "nodes/line1/etc/openvswitch/flows",
    "nodes/line1/etc/openvswitch/switch",
    "nodes/line1/ports",
    "nodes/spine3/etc/openvswitch/flows",
    "nodes/spine3/ports",
    "nodes/x1/etc/network/interfaces",
    "nodes/smc/etc/network/interfaces",
]


def test_golden_holds_no_other_files() -> None:
    there = {str(file.relative_to(GOLDEN)) for file in GOLDEN.rglob("*") if file.is_file()}
    assert there == set(EXACT)


@pytest.mark.parametrize("path", EXACT)
def test_rendered_text_is_the_golden_text(path: str) -> None:
    golden = GOLDEN / path
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(FILES[path].text)
    assert FILES[path].text == golden.read_text()


def test_only_static_switches_have_rules_and_drop_what_has_none() -> None:
    static = {name for name, node in SITE.nodes.items() if node.forwarding == "static"}
    assert len(static) == 5
    for name, node in SITE.nodes.items():
        flows = FILES.get(f"nodes/{name}/etc/openvswitch/flows")
        assert (flows is not None) == (name in static)
        if node.switch:
            switch = FILES[f"nodes/{name}/etc/openvswitch/switch"].text
            assert (f"set-fail-mode br-{node.switch} secure" in switch) == (name in static)


def test_every_static_switch_has_a_rule_for_every_adapter_of_its_network() -> None:
    adapters = {
        mac_address(SITE, port)
        for cable in SITE.cables
        if cable.network == "ib"
        for port in cable.ends
        if port.device in SITE.nodes[port.node].interfaces
    }
    for name, node in SITE.nodes.items():
        if node.forwarding == "static":
            text = FILES[f"nodes/{name}/etc/openvswitch/flows"].text
            assert set(re.findall(r"^cookie=\d+,priority=20,dl_dst=([0-9a-f:]+),", text, re.MULTILINE)) == adapters


def test_a_fast_uplink_is_in_the_ports_of_both_of_its_ends() -> None:
    assert "up1 1500 9000 switch 1500 0 spine1:line1\n" in FILES["nodes/line1/ports"].text
    assert "line1 1500 9000 switch 1500 0 line1:up1\n" in FILES["nodes/spine1/ports"].text
    assert "ib0 1150 9000 host 1150 0 line1:x1\n" in FILES["nodes/x1/ports"].text
