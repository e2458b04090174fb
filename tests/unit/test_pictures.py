"""Pictures for the docs: what is on them."""

import shutil
from pathlib import Path

import pytest

from causeway.docs import pictures
from causeway.errors import BadInput
from causeway.folders import site_file
from causeway.model.load import load_site
from causeway.render.drawing.page import page, ways

JUBL = load_site(site_file("jubl"))
LOOK = {
    "lab": "jubl", "clock": "paced", "at_s": 12.5, "not_restored": [], "faults": [{"id": 1, "name": "link_down"}],
    "nodes": {"nsd01": "up", "SN": "off"}, "mounts": {"work": ["nsd01"]},
    "channels": [{"node": "nsd01", "name": "bond0", "peer": "zam870", "members": {"eth2": False}, "negotiated": True}],
    "now_s": 1.0, "minute_s": 60.0,
    "links": [{"from": "a:x", "to": "b:y", "rate_mbit": 1000, "now_mbit": 990.0, "minute_mbit": 100.0}],
}  # fmt: skip


def test_the_screen_has_what_watch_shows_and_asks_no_server() -> None:
    drawn = pictures.screen(LOOK)
    for said in ("link_down", "DOWN", "eth2", "990.0", "bin/causeway"):
        assert said in drawn
    assert drawn.startswith("<svg") and "@font-face" not in drawn and "url(http" not in drawn
    lost = LOOK | {"faults": []}
    assert "link_down" not in pictures.screen(lost)


def test_two_nodes_are_clicked_that_have_a_way() -> None:
    one, other = pictures.ends(JUBL)
    assert ways(JUBL)[one][other]["edges"]
    text = pictures.clicked(page(JUBL), (one, other))
    assert f'["{one}", "{other}"]' in text and text.count("</body>") == 1


def test_without_a_browser_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(BadInput, match="apt-get install chromium"):
        pictures.shoot("", tmp_path / "x.png")


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed, and this looks at its picture")
def test_a_browser_shows_the_page(tmp_path: Path) -> None:
    pictures.shoot(pictures.clicked(page(JUBL), pictures.ends(JUBL)), tmp_path / "way.png")
    assert (tmp_path / "way.png").read_bytes().startswith(b"\x89PNG")
