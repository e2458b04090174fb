"""Read a site's file and report every mistake in it at once, each with its line."""

from collections.abc import Mapping
from pathlib import Path

from causeway.errors import BadInput, Problem
from causeway.model.findings import one_of
from causeway.model.form import Form
from causeway.model.rules import check
from causeway.model.site import Site, build_site
from causeway.model.yaml_text import Mark, Text


def load_site(file: Path, counts: Mapping[str, int] | None = None, patch: Path | None = None) -> Site:
    """The site that a file describes; `counts` replaces pools' numbers of nodes (pool -> count).

    `patch` is a file of what differs from that file, as `Text.patched` has it. Raises BadInput with all mistakes:
    those of form do not hide those of meaning, because what has a bad form is taken out and the rest is checked
    without it.
    """
    text = Text(file) if patch is None else Text(file).patched(Text(patch))
    for pool, count in (counts or {}).items():
        _set_count(text, pool, count)
    form = Form(text.data)
    topology = form.parse()
    findings = [*text.findings, *form.findings]
    site = build_site(topology) if topology is not None else None
    if site is not None:
        findings += [form.in_file(f) for f in check(site) if not form.explains(f)]
    if findings:
        # a mistake behind an anchor counts once, however many aliases repeat it
        once: dict[tuple[Mark, str, str], Problem] = {}
        for f in findings:
            once.setdefault((text.mark(f.where), f.what, f.remedy), text.problem(f))
        raise BadInput(sorted(once.values(), key=lambda problem: problem.line))
    assert site is not None
    return site


def counted_pools(file: Path) -> list[str]:
    """The pools of a file that say how many nodes they have, so that a count can replace it."""
    return _counted(Text(file))


def _counted(text: Text) -> list[str]:
    pools = text.data.get("pools")
    if not isinstance(pools, dict):
        return []
    return [str(name) for name, pool in pools.items() if isinstance(pool, dict) and "count" in pool]


def _set_count(text: Text, pool: str, count: int) -> None:
    known = _counted(text)
    if pool not in known:
        remedy = one_of(pool, known) if known else "leave the count out"
        raise BadInput(f"{text.file}: this site has no pool {pool!r} with a count; {remedy}")
    text.data["pools"][pool]["count"] = count
