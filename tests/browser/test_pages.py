"""Pages in a real browser: what a click and the slider make of a drawing; a class's board (make nightly)."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from causeway.cli import seats
from causeway.folders import site_file
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.render.drawing.load import load_part
from causeway.render.drawing.page import element, page, ways
from causeway.report import page as report
from causeway.report.load import Load, Mark, Sample
from causeway.report.result import Run

JUBL = load_site(site_file("jubl"))
#: Two members of a channel, as its host's ports, and the switch's port of the first.
ONE, TWO = (f"{JUBL.channels[0].ends[0].node}:{member}" for member in JUBL.channels[0].ends[0].members[:2])
BACK = f"{JUBL.channels[0].ends[1].node}:{JUBL.channels[0].ends[1].members[0]}"
LOAD = Load(
    1.0,
    [Sample(2.0, {ONE: 300.0, BACK: 5.0}), Sample(7.0, {ONE: 990.0, TWO: 600.0, BACK: 20.0})],
    [Mark(0.0, "one, Healthy: begins"), Mark(5.5, "one, Observe: eight streams & more")],
)
#: Does what a person would, and writes what is to be seen then into the page.
_DRIVER = """
<pre id="seen"></pre>
<script>
const all = (what, root) => [...(root || document).querySelectorAll(what)];
const node = name => document.querySelector(`svg .node[data-name="${name}"]`);
const look = () => ({
  drawn: Object.fromEntries(["some", "much", "full"].map(c => [c, all(`path.${c}`).map(p => p.dataset.ends)])),
  strokes: Object.fromEntries(all("path.full, path.much").map(p => [p.dataset.ends, getComputedStyle(p).stroke])),
  when: document.querySelector(".when").textContent,
  busiest: all(".busiest li").map(li => li.textContent),
  shown: all(".load").every(one => getComputedStyle(one).display !== "none"),
  there: all(".edge.there").map(e => +e.dataset.edge),
  back: all(".edge.back").map(e => +e.dataset.edge),
  faint: all(".edge").filter(e => getComputedStyle(e).opacity < 1).map(e => +e.dataset.edge),
  said: all(".said li").map(li => li.textContent),
  width: document.documentElement.scrollWidth,
});
const slide = to => {
  const slider = document.querySelector(".load input");
  slider.value = to;
  slider.dispatchEvent(new Event("input"));
};
const click = name => node(name).dispatchEvent(new MouseEvent("click", {bubbles: true}));
const seen = [look()];
DO
document.getElementById("seen").textContent = JSON.stringify(seen);
</script>
"""


@pytest.fixture(scope="module")
def browser() -> str:
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not installed, and this looks at pages in it: apt-get install chromium")
    return found


#: Writes what each row of a table says, and how high it is.
_ROWS = """
<pre id="seen"></pre>
<script>
document.getElementById("seen").textContent = JSON.stringify([...document.querySelectorAll("tr")].map(
  row => ({said: [...row.children].map(cell => cell.innerText), high: row.offsetHeight})));
</script>
"""


def seen(browser: str, text: str, do: str, folder: Path, driver: str = _DRIVER) -> list[dict[str, Any]]:
    """What is to be seen on a page at first, and after what is done there."""
    file = folder / "page.html"
    file.write_text(text.replace("</body>", driver.replace("DO", do) + "</body>"))
    argv = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    argv += ["--window-size=1200,900", "--dump-dom", file.as_uri()]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True)
    found = done.stdout.split('<pre id="seen">')[1].split("</pre>")[0]
    return list(json.loads(found.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")))


def test_whoever_clicks_two_nodes_sees_the_way_there_and_back(browser: str, tmp_path: Path) -> None:
    do = "click('nsd01'); seen.push(look()); click('FEN'); seen.push(look());"
    first, one, two = seen(browser, page(JUBL), do, tmp_path)
    assert (first["there"], first["said"], first["shown"]) == ([], [], False)
    assert one["there"] == []
    there, back = ways(JUBL)["nsd01"]["FEN"], ways(JUBL)["FEN"]["nsd01"]
    assert sorted(two["there"]) == sorted(there["edges"]) and sorted(two["back"]) == sorted(back["edges"])
    assert two["said"] == there["hops"] + back["hops"]
    assert two["faint"] and not set(two["faint"]) & {*there["edges"], *back["edges"]}


def test_where_there_is_no_way_the_page_says_why(browser: str, tmp_path: Path) -> None:
    start, stop, way = next((a, b, w) for a, to in ways(JUBL).items() for b, w in to.items() if "why" in w)
    *_, last = seen(browser, page(JUBL), f"click('{start}'); click('{stop}'); seen.push(look());", tmp_path)
    assert way["why"] in last["said"] and last["there"] == []


def test_the_slider_shows_what_the_links_carried(browser: str, tmp_path: Path) -> None:
    do = "slide(1); seen.push(look()); slide(0); seen.push(look());"
    busiest, earlier, built = seen(browser, page(JUBL, LOAD), do, tmp_path)
    ends = {port: f"{cable.a} {cable.b}" for cable in JUBL.cables for port in map(str, cable.ends)}
    assert busiest["shown"]
    assert busiest["drawn"] == {"some": [], "much": [ends[TWO]], "full": [ends[ONE]]}
    assert len(set(busiest["strokes"].values())) == 2  # the colours are in force, not the networks' own
    assert busiest["when"] == "7.0 s: one, Observe: eight streams & more"
    assert busiest["busiest"][0] == f"{ONE} sends 990.0 Mbit/s, 99 % of its rate"
    assert len(busiest["busiest"]) == 3
    assert earlier["drawn"] == {"some": [ends[ONE]], "much": [], "full": []}
    assert earlier["when"] == "2.0 s: one, Healthy: begins"
    assert built["drawn"] == {"some": [], "much": [], "full": []} and built["busiest"] == []


def test_a_report_shows_it_too(browser: str, tmp_path: Path) -> None:
    run = Run("an-id", "jubl", "uml", "virtual", 1, "2026-01-01T10:00:00+00:00", 5.0, 7.0, None, [])
    text = report.render(run, {}, load_part(JUBL, LOAD) + element(JUBL))["report.html"]
    (first, clicked) = seen(browser, text, "click('SN'); click('cn01'); seen.push(look());", tmp_path)
    assert first["when"].startswith("7.0 s") and clicked["there"]


@pytest.mark.parametrize("site", [JUBL, load_site(site_file("jubl"), {"io": 288})], ids=["jubl", "io=288"])
def test_a_page_is_no_wider_than_the_window(browser: str, site: Site, tmp_path: Path) -> None:
    (first,) = seen(browser, page(site), "", tmp_path)
    assert first["width"] <= 1200


def test_a_class_s_board_has_a_line_for_each_seat(browser: str, tmp_path: Path) -> None:
    about = {"lesson": "routes", "tasks": 3, "checks": 2, "resets": 0, "since": "7 min"}
    rows = [
        about | {"lab": "small-seat-1", "task": 2, "done": False, "passed": [1], "hints": 1, "solved": False},
        about | {"lab": "small-seat-2", "task": 4, "done": True, "passed": [1, 2, 3], "hints": 0, "solved": True},
    ]
    _, first, second = seen(browser, seats.page(rows), "", tmp_path, _ROWS)
    assert first["said"] == ["small-seat-1", "routes", "2 of 3", "1", "1", "2", "0", "7 min"]
    assert second["said"][2:4] == ["done", "1, 2, 3 (solution played)"]
    assert first["high"] == second["high"]  # one line each, however much one says
