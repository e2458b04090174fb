"""Whatever is done to a site's file, or put into an overlay, it is sound or bad input: never a mistake of ours."""

import subprocess
import sys

from causeway.folders import REPO


def test_300_spoilt_files_and_overlays_are_sound_or_bad_input() -> None:
    words = [sys.executable, "-m", "tests.sites.spoilt", "--cases", "300"]
    done = subprocess.run(words, cwd=REPO, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    sound = int(done.stdout.split(": ")[1].split()[0])
    assert 20 < sound < 200  # neither all refused nor all let through
