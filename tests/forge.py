"""A stand-in for a forge: runs the very job of docs/rehearsing.md as a runner would, and takes comments by HTTP."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import yaml

REPO = Path(__file__).resolve().parents[1]
TOKEN = "a token that may comment"
NOTES = "/api/v4/projects/7/merge_requests/3/notes"


def job() -> dict[str, Any]:
    """The job as docs/rehearsing.md has it."""
    (text,) = re.findall(r"^```yaml\n(rehearse:\n.*?)^```$", (REPO / "docs" / "rehearsing.md").read_text(), re.M | re.S)
    return dict(yaml.safe_load(text)["rehearse"])


@dataclass
class Forge:
    """Where it listens, and the comments that came; whoever has not the token is turned away."""

    url: str
    comments: list[str] = field(default_factory=list)


@contextmanager
def forge() -> Iterator[Forge]:
    """Have one listen on loopback meanwhile."""

    class Takes(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            wrong = 401 if self.headers["PRIVATE-TOKEN"] != TOKEN else 404 if self.path != NOTES else 0
            if not wrong:
                own.comments += parse_qs(body, strict_parsing=True)["body"]
            self.send_response(wrong or 201)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Takes) as server:
        own = Forge(f"http://127.0.0.1:{server.server_port}/api/v4")
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield own
        finally:
            server.shutdown()
            thread.join()


def run_job(project: Path, at: Forge, env: Mapping[str, str], token: str = TOKEN) -> "subprocess.CompletedProcess[str]":
    """The job's script, line by line in one shell that ends with the first that fails, as GitLab's runner has it."""
    own = {
        "CAUSEWAY_RUNS": str(project / "runs"),
        "COMMENT_TOKEN": token,
        "CI_API_V4_URL": at.url,
        "CI_PROJECT_ID": "7",
        "CI_MERGE_REQUEST_IID": "3",
    }
    script = "\n".join(["set -eo pipefail", *job()["script"]])
    return subprocess.run(
        ["bash", "-c", script], cwd=project, env={**os.environ, **env, **own},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
