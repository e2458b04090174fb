"""Pictures of what one sees, for the docs: `watch` on a terminal, and a drawing's page in a browser.

`make pictures` (python -m causeway.docs.pictures RUN) brings no lab up: it takes the lab that is up, best while a run
plays in it (those kept are of jubl and channel_imbalance), and the folder of a run that has a load. It writes
docs/pictures/: watch.svg as 80 columns by 24 lines show it; way.png, two nodes of the lab's site clicked; load.png, the
slider where the run's links carried most. Chromium takes the two of the page.
"""

import io
import json
import re
import shutil
import sys
from contextlib import closing
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from causeway.cli import board, watching
from causeway.errors import BadInput
from causeway.folders import REPO
from causeway.hosts import host
from causeway.model.site import Site
from causeway.process import run
from causeway.render.drawing.page import page, ways
from causeway.report import load

FOLDER = REPO / "docs" / "pictures"
COLUMNS, LINES = 80, 24
#: Of so many looks the picture is of that at which links carry most.
_LOOKS = 10
#: Of the browser's window, in pixels; a page with a load has a list below the drawing.
_WIDE, _HIGH, _HIGH_WITH_LOAD = 1020, 700, 910
_CLICKS = """<script>
for (const name of %s) {
  document.querySelector(`svg .node[data-name="${name}"]`).dispatchEvent(new MouseEvent("click", {bubbles: true}));
}
</script></body>"""


def screen(look: dict[str, Any]) -> str:
    """One look as `watch` shows it on a terminal, as SVG that asks no server for its letters."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, markup=False)
    for line in board.lines(look, COLUMNS, LINES):
        console.print(line, no_wrap=True, overflow="crop", highlight=False)
    drawn = console.export_svg(title="bin/causeway watch")
    return re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL)


def _carried(look: dict[str, Any]) -> float:
    """What all links together carry, in Mbit/s."""
    return sum(link["now_mbit"] or 0.0 for link in look["links"])


def clicked(text: str, names: tuple[str, ...]) -> str:
    """A drawing's page on which somebody has clicked these nodes."""
    return text.replace("</body>", _CLICKS % json.dumps(names))


def ends(site: Site) -> tuple[str, str]:
    """The two boxes between which most is said of the way: the first of those, in the site's order."""
    told = {(one, other): way.get("hops", []) for one, to in ways(site).items() for other, way in to.items()}
    return max(told, key=lambda pair: len(told[pair]))


def shoot(text: str, to: Path, high: int = _HIGH) -> None:
    """Show a page in a browser without a window, and keep what is to be seen. BadInput where there is no Chromium."""
    browser = shutil.which("chromium")
    if browser is None:
        raise BadInput("chromium is not installed, and takes the pictures of pages: apt-get install chromium")
    with TemporaryDirectory(prefix="causeway-pictures-") as name:
        file = Path(name) / "page.html"
        file.write_text(text)
        argv = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        argv += [f"--user-data-dir={name}/profile", f"--window-size={_WIDE},{high}", f"--screenshot={to}"]
        run([*argv, file.as_uri()], timeout_s=120).must()


def main(folder: str) -> None:
    """Make them all, of the lab that is up and of a run in a lab of the same site."""
    found = host.running(None)
    site = found.site()
    with closing(watching.looks(found, site)) as looks:
        drawn = screen(max(islice(looks, _LOOKS), key=_carried))
    FOLDER.mkdir(parents=True, exist_ok=True)
    shoot(clicked(page(site), ends(site)), FOLDER / "way.png")
    shoot(page(site, load.read(Path(folder))), FOLDER / "load.png", _HIGH_WITH_LOAD)
    (FOLDER / "watch.svg").write_text(drawn)


if __name__ == "__main__":
    main(*sys.argv[1:2])
