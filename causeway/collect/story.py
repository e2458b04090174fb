"""about.md of an imported site: where it comes from, what in it is a guess, and what collecting cannot see."""

from collections import Counter
from collections.abc import Iterable, Iterator

from causeway.collect.draft import Draft, printable
from causeway.collect.plant import Plant
from causeway.model.site import Site
from causeway.model.yaml_text import dotted

#: What no output says, and a site's file has; the site is as if nothing had been said of it.
UNSEEN = (
    "what nodes are for (`role`)",
    "who administers a cluster, where clusters.yaml does not say so",
    "by which network a cluster's daemons know each other (`known_by`), beyond what its servers' addresses show",
    "filesystems: owners, servers, sizes; the mounts that were seen are below",
    "pools, and that nodes boot over the network: each node stands by itself",
    "what bounds a node beside its wire (`receive_mbit`, `send_mbit`); of a lab's it shows as a slower wire",
    "hash policies of other makers, and of channels whose other end was not collected",
    "hardware addresses: a lab has its own, by which `layer2` and `balance-slb` choose other members than production",
    "which of several cables alike between a fabric's switches is which",
    "what rules, tables of routes but the main one, VLANs and routing daemons do; IPv6",
    "firewalls, and tunables beyond those that are collected",
)


def story(site: Site, draft: Draft, plant: Plant) -> str:
    """The page."""
    counts = f"{len(plant.machines)} outputs: {len(site.nodes)} nodes, {len(site.cables)} cables"
    lines = [f"# {site.name}", "", f"Imported by `causeway import` from {counts}, {len(site.channels)} channels.", ""]
    questions = [f"`{dotted(where)}`: {what}" for where, what in draft.questions.items()]
    seen = Counter(printable(mount) for machine in plant.machines.values() for mount in machine.mounts)
    mounts = [f"{mount}: {count} node{'s' if count > 1 else ''}" for mount, count in sorted(seen.items())]
    lines += _list("Questions", "Where site.yaml has a comment `# ?`, this is the best guess:", questions)
    lines += _list("Findings", "What nodes say, and the site cannot have or others deny:", draft.findings)
    lines += _list("Not seen", "What collecting cannot see; say it in site.yaml where it matters:", UNSEEN)
    lines += _list("Filesystems", "Mounted over the network; see `filesystems` in docs/sites.md:", mounts)
    return "\n".join(lines).rstrip() + "\n"


def _list(title: str, about: str, items: Iterable[str]) -> Iterator[str]:
    items = list(items)
    if items:
        yield from (f"## {title}", "", about, "", *(f"- {item}" for item in items), "")
