"""What must hold in a site beyond its file's form. Each rule finds all of its own violations."""

import re
from collections.abc import Iterator

from causeway.model.findings import Finding, Where
from causeway.model.rules import addresses, cabling, channels, clusters, fabrics, filesystems, names, pools
from causeway.model.site import Site

_RULES = (
    names.references,
    clusters.clusters,
    addresses.networks,
    addresses.addresses,
    names.names,
    addresses.routes,
    filesystems.filesystems,
    clusters.mounts,
    clusters.tunables,
    channels.channels,
    cabling.bridges,
    cabling.links,
    cabling.cables,
    cabling.bounds,
    cabling.loops,
    fabrics.fabrics,
    pools.pools,
    pools.servers,
)


def check(site: Site) -> Iterator[Finding]:
    """All violations in a site of good form; what is wrong with all nodes of a pool is said of its first."""
    said: set[tuple[Where, str]] = set()
    for finding in (finding for rule in _RULES for finding in rule(site)):
        key = finding.where, _alike(site, finding)
        if key not in said:
            said.add(key)
            yield finding


def _alike(site: Site, finding: Finding) -> str:
    """What a finding in a pool says, whichever of the pool's nodes it names."""
    if finding.where[0] != "pools":
        return finding.what
    own = site.nodes_of(str(finding.where[1]))
    alternatives = "|".join(re.escape(name) for name in sorted(own, key=len, reverse=True))
    return re.sub(rf"\b(?:{alternatives})\b", "{}", finding.what) if own else finding.what
