"""What a scenario asks of a site, and whom it is given. Pure: it is answered before any lab is up.

Each question is answered by the site's own nodes in the order of its file, so that a report names them; a question
that the site cannot answer raises Unsupported with a sentence that says what it lacks.
"""

from causeway.scenario.cast.channels import AskChannels, Channel
from causeway.scenario.cast.clusters import AskClusters, Blocks, Diskless, Keeper, Member, Mounts
from causeway.scenario.cast.fabrics import AskFabrics
from causeway.scenario.cast.gateways import Answered, Apart, AskGateways, Defaulted, Gateways, Private, Trunk
from causeway.scenario.cast.neighbours import AskNeighbours, Company, Equals, Starter, Twice
from causeway.scenario.cast.platforms import Archive, AskPlatforms, Platforms, Shared
from causeway.scenario.cast.routes import (
    AskRoutes,
    Detour,
    Distant,
    Jumbo,
    Leased,
    Newcomer,
    Short,
    Transports,
    WayBack,
)
from causeway.scenario.cast.storage import Arrays, Blocked, Forwarded, Sharing, Striped
from causeway.scenario.cast.time import AskTime, AwayTime

__all__ = [
    "Answered",
    "Apart",
    "Archive",
    "Arrays",
    "Ask",
    "AwayTime",
    "Blocked",
    "Blocks",
    "Channel",
    "Company",
    "Defaulted",
    "Detour",
    "Diskless",
    "Distant",
    "Equals",
    "Forwarded",
    "Gateways",
    "Jumbo",
    "Keeper",
    "Leased",
    "Member",
    "Mounts",
    "Newcomer",
    "Platforms",
    "Private",
    "Shared",
    "Sharing",
    "Short",
    "Starter",
    "Striped",
    "Transports",
    "Trunk",
    "Twice",
    "WayBack",
]


class Ask(AskChannels, AskFabrics, AskGateways, AskNeighbours, AskPlatforms, AskRoutes, AskTime, AskClusters):
    """All questions."""
