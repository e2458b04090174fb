"""Where one hop takes smaller packets than both ends, small I/O works and large I/O never ends.

Claim: with 9000 at nsd01 and FEN and 8192 at the switch ports between, a write of up to 8140 bytes arrives, and a
larger one never does; nobody is told. With the right MTU in the route, or with a TCP that probes, all of them arrive.
Where the limit is a router's, the router says so, the sender learns 8192, and nothing stalls.

Cause: the ends agree on a segment size by their own MTUs; what is in between has no say, and a switch cannot answer.

Source: GPFS at NERSC, section V: cards whose jumbo frames "was 8K instead of 9K", so that "we had to set different
MTUs for the nodes"; RFC 1191, RFC 4821.
"""

from collections.abc import Callable

from causeway.errors import LabBroken
from causeway.lab import nuttcp
from causeway.lab.clock import Watch
from causeway.lab.counters import kernel_counters
from causeway.lab.faults import kernel_setting, port_mtu
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.report.result import Table
from causeway.scenario.stage import Stage
from causeway.scenario.streams import address, draw, end_of, measure

JUMBO, LIMIT, USUAL = 9000, 8192, 1500
#: IP and ICMP headers of a ping; IP and TCP headers, with timestamps, of a segment.
PING, SEGMENT = 28, 52
#: A GPFS block of the smallest usual size, and what is a small request.
BLOCK, SMALL = 256 * 1024, 4096
#: When a transfer that takes milliseconds counts as stalled: TCP has then sent the packet five times or more.
PATIENCE_S = 10
ARRIVES, STALLS = "arrives", f"not there after {PATIENCE_S} s"


def play(stage: Stage) -> None:
    lab, site, server = stage.lab, stage.site, end_of(stage, "nsd01", "zam870")
    fen, far = str(address(stage, "FEN", "b")), str(address(stage, "cn01", "f"))
    to_fen = end_of(stage, "zam870", "FEN").members

    def set_mtu(node: str, device: str, mtu: int) -> Callable[[], object]:
        """Also of a bond with its members, and of a switch's own bridge, which nobody but Open vSwitch may set."""
        bridge = ("ovs-vsctl", "set", "interface", device, "mtu_request={}")
        argv = bridge if device.startswith("br-") else ("ip", "link", "set", device, "mtu", "{}")
        lab.on(node, *argv[:-1], argv[-1].format(mtu)).must()
        return lambda: lab.on(node, *argv[:-1], argv[-1].format(USUAL)).must()

    def largest(node: str, to: str) -> int:
        """The largest IP packet that comes back, found by halving."""
        low, high = USUAL, JUMBO + 1
        while high - low > 1:
            size = (low + high) // 2
            back = lab.on(node, "ping", "-c", "1", "-W", "1", "-M", "do", "-s", str(size - PING), to).rc == 0
            low, high = (size, high) if back else (low, size)
        return low

    def written(node: str, to: str, size: int) -> str:
        """What becomes of one write of so many bytes."""
        done = lab.on(node, "timeout", str(PATIENCE_S), "nuttcp", "-w1m", f"-l{size}", "-n1", to)
        if done.rc not in (0, 124):
            raise LabBroken(f"nuttcp from {node} to {to} ended with {done.rc}: {done.stderr}")
        return STALLS if done.rc else ARRIVES

    def rate() -> float:
        alone = measure(stage, server, draw(stage, server, [("FEN", "b")], "t"))
        return next(iter(alone.measured.values())).rate_mbit

    def told() -> int:
        return kernel_counters(lab, "nsd01")["IcmpInDestUnreachs"] + kernel_counters(lab, "FEN")["IcmpInDestUnreachs"]

    def judge_writes(when: str, sizes: dict[int, str]) -> None:
        with nuttcp.servers(lab, ["FEN"]):
            for size, due in sizes.items():
                stage.compare(f"{when}: {size} bytes, nsd01 to FEN", due, written("nsd01", fen, size), "", 0)

    fits = LIMIT - SEGMENT
    everything = dict.fromkeys((SMALL, fits, fits + 1, BLOCK), ARRIVES)

    with stage.healthy("the way from nsd01 to FEN, and on through deisa to cn01, is jumbo from end to end"):
        hosts = [("nsd01", "bond0"), ("FEN", "bond0"), ("cn01", "eth1")]
        ports = [("zam870", device) for device in (*end_of(stage, "zam870", "nsd01").members, *to_fen, "deisa")]
        for node, device in (*hosts, *ports, ("deisa", "eth0"), ("deisa", "cn01"), ("deisa", "br-m")):
            stage.defer(set_mtu(node, device, JUMBO))
        stage.compare("largest packet, nsd01 to FEN", JUMBO, largest("nsd01", fen), "bytes", 0)
        stage.compare("largest packet, FEN to cn01f", JUMBO, largest("FEN", far), "bytes", 0)
        judge_writes("jumbo", everything)
        stage.compare("one stream, jumbo", tcp_goodput_mbit(1000, JUMBO), rate(), "Mbit/s", 0.0005, "the wire's rate")

    with stage.perturb("zam870's ports to FEN take 8 K"):
        widen = [port_mtu(lab, "zam870", device, LIMIT) for device in to_fen]
        for undo in widen:
            stage.defer(undo)
        told_before = told()

    with stage.judge("what fits in 8 K arrives, what does not never does, and nobody is told"):
        stage.compare("largest packet, 8 K port", LIMIT, largest("nsd01", fen), "bytes", 0)
        stalled = {SMALL: ARRIVES, fits: ARRIVES, fits + 1: STALLS, BLOCK: STALLS}
        judge_writes("8 K port", stalled)
        stage.compare("ICMP messages to either end", 0, told() - told_before, "messages", 0)

    with stage.contrast("with the right MTU in nsd01's route to FEN everything arrives, at the rate of 8 K packets"):
        route = ("ip", "route", "replace", fen, "dev", "bond0", "mtu", str(LIMIT))
        lab.on("nsd01", *route).must()
        remove = ("ip", "route", "del", fen)
        stage.defer(lambda: lab.on("nsd01", *remove))
        judge_writes("route with MTU", everything)
        stage.compare("one stream, 8 K", tcp_goodput_mbit(1000, LIMIT), rate(), "Mbit/s", 0.0005, "the wire's rate")
        lab.on("nsd01", *remove).must()

    with stage.contrast("TCP that probes finds a size that passes, after some seconds of silence"):
        undo = kernel_setting(lab, "nsd01", "net.ipv4.tcp_mtu_probing", 1)
        stage.defer(undo)
        with nuttcp.servers(lab, ["FEN"]):
            watch = Watch()
            stage.compare(f"probing: {BLOCK} bytes, nsd01 to FEN", ARRIVES, written("nsd01", fen, BLOCK), "", 0)
        seconds = watch.virtual_s
        undo()
        stage.compare("probing: silent for more than a second", True, seconds > 1, "", 0)
        stage.show(Table("A write of 256 KiB", ["with", "takes s"], [["tcp_mtu_probing = 1", f"{seconds:.2f}"]]))

    with stage.contrast("where the 8 K are a router's, FEN is told, and nothing stalls"):
        for undo in widen:
            undo()
        set_mtu("deisa", "br-m", LIMIT)  # its undo is the first one's
        stage.defer(lambda: lab.on("FEN", "ip", "route", "flush", "cache").must())
        with nuttcp.servers(lab, ["cn01"]):
            stage.compare(f"router: {BLOCK} bytes, FEN to cn01f", ARRIVES, written("FEN", far, BLOCK), "", 0)
        learned = lab.on("FEN", "ip", "route", "get", far).must().split()
        stage.compare("router: MTU that FEN has learned", str(LIMIT), learned[learned.index("mtu") + 1], "", 0)
        stage.compare("router: FEN was told", True, told() > told_before, "", 0)

    with stage.restore("every port is as before, and one stream is as fast as it is with usual packets"):
        usual = tcp_goodput_mbit(1000, site.topology.networks["b"].mtu)
        stage.compare("one stream, afterwards", usual, rate(), "Mbit/s", 0.001, "the wire's rate")
        stage.compare("nsd01 to FEN, afterwards", USUAL, largest("nsd01", fen), "bytes", 0)
