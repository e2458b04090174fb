"""States that a site should not be in. Each function gives one as a change, not made yet; none of them judges.

Their docstrings say how a fault is injected, what it triggers and how to look for it; `catalogue` reads them.
"""

from causeway.lab.faults.clocks import clock_wrong
from causeway.lab.faults.exports import export_moved
from causeway.lab.faults.keys import authorized_key_wrong, host_key_wrong
from causeway.lab.faults.links import link_delayed, link_down, link_lossy, link_rate, link_silent, port_mtu
from causeway.lab.faults.names import name_missing
from causeway.lab.faults.neighbours import address_twice
from causeway.lab.faults.routes import route_missing, route_not_persistent, route_one_way, route_wrong
from causeway.lab.faults.services import service_slow, service_stopped
from causeway.lab.faults.switches import snooping_on

__all__ = [
    "address_twice",
    "authorized_key_wrong",
    "clock_wrong",
    "export_moved",
    "host_key_wrong",
    "link_delayed",
    "link_down",
    "link_lossy",
    "link_rate",
    "link_silent",
    "name_missing",
    "port_mtu",
    "route_missing",
    "route_not_persistent",
    "route_one_way",
    "route_wrong",
    "service_slow",
    "service_stopped",
    "snooping_on",
]
