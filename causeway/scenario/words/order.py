"""What becomes of the order of one stream's packets, for scenarios: counted at both of its ends."""

from dataclasses import dataclass

from causeway.lab.probes.counters import difference, kernel_counters, sent_bytes
from causeway.lab.probes.nuttcp import Stream
from causeway.scenario.cast import Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import DATA_PORT, SOURCE_PORTS, transmitting

#: Of a table of streams: how each was sent, what it got, and `Seen.counts`.
COLUMNS = ["how", "Mbit/s", "links' worth", "sent again", "needlessly", "out of order"]


@dataclass(frozen=True)
class Seen:
    """What one stream did: its rate, what each cable had of it, and what TCP made of the order of its packets."""

    rate_mbit: float
    sent: dict[str, int]  # by the sender's members, in bytes
    handed_on: dict[str, int]  # by the switch's, towards the receiver
    again: int  # segments of it that TCP sent again
    needless: int  # those of them of which the receiver says that it had them
    out_of_order: int  # segments that the receiver kept until an earlier one came

    @property
    def counts(self) -> list[str]:
        return [str(count) for count in (self.again, self.needless, self.out_of_order)]

    def per_cent(self, sent: dict[str, int]) -> dict[str, float]:
        """Of the bytes, by each member."""
        return {member: 100 * count / sum(sent.values()) for member, count in sent.items()}


def stream_in_order(stage: Stage, sender: Channel, receiver: Channel) -> Seen:
    """One stream from one host to the other, by their channels to one switch."""
    lab, port = stage.lab, stage.random.choice(SOURCE_PORTS)
    address, label = stage.site.address(receiver.node, receiver.network), f"{sender.node}:t:{receiver.node}"
    alone = Stream(sender.node, receiver.node, address, label, "t", port, DATA_PORT)

    def bytes_sent() -> tuple[dict[str, int], dict[str, int]]:
        handed_on = sent_bytes(lab, receiver.at, receiver.switch.members)
        return sent_bytes(lab, sender.node, sender.members), handed_on

    def told() -> tuple[int, int]:
        needless = kernel_counters(lab, sender.node)["TcpExtTCPDSACKRecvSegs"]
        return needless, kernel_counters(lab, receiver.node)["TcpExtTCPOFOQueue"]

    before, counted = bytes_sent(), told()
    with transmitting(stage, [alone]) as running:
        (measured,) = running.results()
    sent, handed_on = (difference(*counts) for counts in zip(before, bytes_sent(), strict=True))
    needless, out_of_order = (after - first for first, after in zip(counted, told(), strict=True))
    return Seen(measured.rate_mbit, sent, handed_on, measured.retransmits, needless, out_of_order)
