"""What must hold of switches with tables made beforehand, and of the LIDs that the tables go by."""

from pathlib import Path

import pytest

from causeway.errors import BadInput
from causeway.model.load import load_site

GOOD = """\
lab: tiny
domain: site.example
networks: {ib: {subnet: 192.168.0.0/24}}
clusters: {}
nodes:
  one: {role: switch, switch: ib, forwarding: static}
  two: {role: switch, switch: ib, forwarding: static}
  a: {role: host, interfaces: {ib0: {network: ib, address: 192.168.0.1, lid: 5}}}
  b: {role: host, interfaces: {ib0: {network: ib, address: 192.168.0.2, lid: 6}}}
pools:
  c: {role: host, names: [c1, c2], hosts: 3, interfaces: {ib0: {network: ib, switch: one, lids: [7, 8]}}}
links:
  - ends: [a:ib0, one:a]
  - ends: [b:ib0, two:b]
  - ends: [one:up1, two:up1]
  - ends: [one:up2, two:up2]
"""


def said(tmp_path: Path, text: str) -> str:
    file = tmp_path / "site.yaml"
    file.write_text(text)
    with pytest.raises(BadInput) as wrong:
        load_site(file)
    return str(wrong.value)


def test_a_fabric_may_have_loops(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(GOOD)
    site = load_site(file)
    assert [site.nodes[name].interfaces["ib0"].lid for name in ("a", "b", "c1", "c2")] == [5, 6, 7, 8]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (", lid: 6", "", "b:ib0 has no LID"),
        ("lid: 6", "lid: 5", "LID 5 of b:ib0 is a:ib0's, too"),
        ("lids: [7, 8]", "lids: [7]", "1 LIDs for 2 nodes"),
        ("lids: [7, 8]", "lids: [7, 6]", "LID 6 of"),
        (
            "two: {role: switch, switch: ib, forwarding: static}",
            "two: {role: switch, switch: ib}",
            "two learns, and one",
        ),
        (
            "  a: {role: host,",
            "  a: {role: host, forwarding: static,",
            "a switches no network, and forwards by a table",
        ),
    ],
)
def test_a_fabric_with_a_mistake_is_refused(tmp_path: Path, old: str, new: str, what: str) -> None:
    assert old in GOOD
    assert what in said(tmp_path, GOOD.replace(old, new))


def test_a_channel_at_such_a_switch_is_refused(tmp_path: Path) -> None:
    channel = """\
channels:
  - ends:
      - {node: one, name: trunk, members: [up1, up2], hash_policy: balance-slb}
      - {node: two, name: trunk, members: [up1, up2], hash_policy: balance-slb}
"""
    text = GOOD[: GOOD.index("  - ends: [one:up1")] + channel
    assert "one forwards by a table, which names single ports" in said(tmp_path, text)
