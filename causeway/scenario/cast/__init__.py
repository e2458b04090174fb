"""What a scenario asks of a site, and whom it is given. Pure: it is answered before any lab is up.

Each question is answered by the site's own nodes in the order of its file, so that a report names them; a question
that the site cannot answer raises Unsupported with a sentence that says what it lacks.
"""

from causeway.scenario.cast.channels import AskChannels, Channel
from causeway.scenario.cast.clusters import AskClusters, Blocks, Diskless, Keeper, Member, Mounts
from causeway.scenario.cast.fabrics import AskFabrics
from causeway.scenario.cast.routes import AskRoutes, Detour, Distant, Leased, Newcomer, Transports, WayBack
from causeway.scenario.cast.storage import Archive, Arrays, AskStorage, Blocked, Forwarded, Platforms, Shared
from causeway.scenario.cast.time import AskTime, AwayTime

__all__ = [
    "Archive",
    "Arrays",
    "Ask",
    "AwayTime",
    "Blocked",
    "Blocks",
    "Channel",
    "Detour",
    "Diskless",
    "Distant",
    "Forwarded",
    "Keeper",
    "Leased",
    "Member",
    "Mounts",
    "Newcomer",
    "Platforms",
    "Shared",
    "Transports",
    "WayBack",
]


class Ask(AskChannels, AskFabrics, AskRoutes, AskStorage, AskTime, AskClusters):
    """All questions."""
