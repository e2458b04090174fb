"""Stand-ins for forges: run the very jobs of docs/ci.md as their runners would, and take comments by HTTP."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
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


@dataclass(frozen=True)
class Kind:
    """A forge: the file of its jobs, whom it lets comment where, and how it runs a job's lines.

    `header` has the token, after `word`; `posted` reads a comment's text of what was sent; `shell` ends with the first
    line that fails.
    """

    file: str
    header: str
    word: str
    path: str
    posted: Callable[[str], str]
    shell: tuple[str, ...]
    variables: Mapping[str, str]

    def jobs(self) -> dict[str, Any]:
        """Its file, as docs/ci.md has it."""
        page = (REPO / "docs" / "ci.md").read_text()
        (text,) = re.findall(rf"^```yaml {re.escape(self.file)}\n(.*?)^```$", page, re.M | re.S)
        return dict(yaml.safe_load(text))


GITLAB = Kind(
    file=".gitlab-ci.yml",
    header="PRIVATE-TOKEN",
    word="",
    path="/api/v4/projects/7/merge_requests/3/notes",
    posted=lambda body: parse_qs(body, strict_parsing=True)["body"][0],
    shell=("bash", "-eo", "pipefail", "-c"),
    variables={"CI_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "3", "COMMENT_TOKEN": TOKEN},
)
#: Its runner takes sh in a container.
GITHUB = Kind(
    file=".github/workflows/causeway.yaml",
    header="Authorization",
    word="token ",
    path="/api/repos/ours/sites/issues/3/comments",
    posted=lambda body: str(json.loads(body)["body"]),
    shell=("sh", "-e", "-c"),
    variables={"GITHUB_REPOSITORY": "ours/sites", "NUMBER": "3", "TOKEN": TOKEN},
)
KINDS = (GITLAB, GITHUB)


#: The packages, and what unbundles or builds.
_BEFORE = 2


def scripts(kind: Kind, job: str, *, ready: bool = False) -> list[str]:
    """What a runner hands to its shell for a job, one after the other, without the packages, which are there.

    Where all is ready, without what unbundles or builds it, too.
    """
    jobs = kind.jobs()
    if kind is GITLAB:
        before, own = jobs["default"]["before_script"], jobs[job]["script"]
    else:
        runs = [step["run"] for step in jobs["jobs"][job]["steps"] if "run" in step]
        before, own = runs[:_BEFORE], runs[_BEFORE:]
    lines = [*([] if ready else before[1:]), *own]
    return ["\n".join(lines)] if kind is GITLAB else lines  # GitLab's are one script


@dataclass
class Forge:
    """What it is, where it listens, and the comments that came; whoever has not the token is turned away."""

    kind: Kind
    url: str
    comments: list[str] = field(default_factory=list)


@contextmanager
def forge(kind: Kind) -> Iterator[Forge]:
    """Have one listen on loopback meanwhile."""

    class Takes(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            wrong = 401 if self.headers[kind.header] != kind.word + TOKEN else 404 if self.path != kind.path else 0
            if not wrong:
                own.comments.append(kind.posted(body))
            self.send_response(wrong or 201)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Takes) as server:
        own = Forge(kind, f"http://127.0.0.1:{server.server_port}/api")
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield own
        finally:
            server.shutdown()
            thread.join()


def run_job(
    project: Path, at: Forge, env: Mapping[str, str], job: str = "rehearse", *, ready: bool = False, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """A job's scripts, up to the first that fails. `variables` take the place of those that the forge sets."""
    kind = at.kind
    urls = {"CI_API_V4_URL": f"{at.url}/v4", "GITHUB_API_URL": at.url}
    own = {"CAUSEWAY_RUNS": str(project / "runs"), **urls, **kind.variables, **variables}
    for script in scripts(kind, job, ready=ready):
        done = subprocess.run(
            [*kind.shell, script], cwd=project, env={**os.environ, **env, **own},
            capture_output=True, text=True, timeout=1800, check=False,
        )  # fmt: skip
        if done.returncode:
            break
    return done
