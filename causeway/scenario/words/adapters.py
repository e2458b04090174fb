"""Adapters that are watched, for scenarios: an address is there while its cable is, as network daemons have it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from causeway.scenario.stage import Stage

#: What a node does: it takes an adapter's addresses away while that has no carrier, and gives them back.
_WATCH = """
while sleep 0.5; do for device; do
	read -r carrier </sys/class/net/$device/carrier || carrier=0
	kept=/run/addresses.$device
	if [ "$carrier" = 0 ] && [ ! -e $kept ]; then
		ip -4 address save dev $device >$kept && ip -4 address flush dev $device
	elif [ "$carrier" = 1 ] && [ -e $kept ]; then
		ip address restore <$kept; rm $kept
	fi
done; done
"""
_GIVE_BACK = "for kept in /run/addresses.*; do [ ! -e $kept ] || { ip address restore <$kept; rm $kept; }; done"


@contextmanager
def watched(stage: Stage, node: str, devices: Sequence[str]) -> Iterator[None]:
    """A node watches these adapters meanwhile (at home NetworkManager or ifplugd does); in the end all have theirs."""
    watcher = stage.lab.start_on(node, "sh", "-c", _WATCH, "watch", *devices)
    try:
        yield
    finally:
        watcher.kill()
        stage.lab.on(node, "sh", "-c", _GIVE_BACK).must()
