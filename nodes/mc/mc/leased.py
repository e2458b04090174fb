"""mcleased, the lease daemon of a node: it holds leases, hears its peers, and lets mounts go where it is expelled.

It runs beside the filesystem's own daemon on each node of a cluster that has failureDetectionTime. At the manager of
each cluster whose filesystems its own cluster mounts or owns it holds a lease, which it renews RENEWALS times within
that time; with each renewal it says whom it does not hear, and is told who else holds a lease, and whether it is
expelled. To each of these it sends a beat as often. The manager is the owner's configuration server; another contact
says who it is.

A lease is taken over TCP with TLS: both ends show their cluster's key, and the name in it is the cluster's. A beat is a
datagram with a code (HMAC) by a secret that the manager gives to all holders, for the clusters of two clients do not
know each other's keys. So a holder could speak for another one, and who records a beat can send it once more.
"""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import select
import socket
import socketserver
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mc import config as configuration
from mc import daemons, keys, leases, mounts, native
from mc.config import Config
from mc.drivers import of
from mc.drivers.known import Known
from mc.holders import Leases
from mc.native import Refused

#: Beside GPFS's own, 1191, which scenarios have streams come from, as its daemon's do.
PORT = 1192
#: The longest line, and the longest beat, in bytes.
_LONGEST, _BEAT = 2**20, 4096
#: How often it must find that it is not wanted, for files that it reads may be being exchanged.
_SURE = 2
_BACKLOG = 16


class Link:
    """A connection over TLS, on which each end says a line of JSON in turn; `cluster` is whose key the other has."""

    def __init__(self, config: Config, connection: socket.socket, timeout_s: float, *, serves: bool = False) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if serves else ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_REQUIRED
        context.load_cert_chain(config.ssl / "id_rsa.cert", config.ssl / "id_rsa")
        trusted = keys.trusted(config.ssl, "authorized_cluster" if serves else "known_cluster")
        context.load_verify_locations(cadata=trusted)
        connection.settimeout(timeout_s)
        self._tls = context.wrap_socket(connection, server_side=serves)
        self._lines = self._tls.makefile("rwb")
        shown: dict[str, Any] = self._tls.getpeercert() or {}
        self.cluster = str(dict(pair for part in shown["subject"] for pair in part)["commonName"])

    def say(self, what: dict[str, Any]) -> None:
        self._lines.write(json.dumps(what).encode() + b"\n")
        self._lines.flush()

    def hear(self) -> dict[str, Any]:
        """What the other end says; ConnectionError where it has gone, or is no daemon of ours."""
        line = self._lines.readline(_LONGEST)
        try:
            said = json.loads(line)
        except ValueError:
            raise ConnectionError("the other end has gone") from None
        if not isinstance(said, dict):
            raise ConnectionError("the other end is no lease daemon")
        return said

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._tls.shutdown(socket.SHUT_RDWR)
        for end in (self._lines, self._tls):
            with contextlib.suppress(OSError):
                end.close()


@dataclass
class Lease:
    """This node's lease at the manager of one cluster; `heard`: each other holder, and when it was heard last."""

    cluster: str
    contacts: list[str]
    link: Link | None = None
    secret: str = ""
    peers: dict[str, list[str]] = field(default_factory=dict)
    heard: dict[str, float] = field(default_factory=dict)
    renewed: float = float("-inf")
    expelled: str = ""
    taken: list[Known] = field(default_factory=list)

    def take(self, now: float, answer: dict[str, Any], own: str, limit_s: float) -> None:
        """What a manager has answered. Who is new among the holders, as all are after a pause, is waited for anew."""
        if now - self.renewed > limit_s / 2:
            self.heard = {}
        self.renewed, self.secret, self.expelled = now, answer["secret"], answer["expelled"]
        self.peers = {address: others for address, others in answer["holders"].items() if address != own}
        self.heard = {address: self.heard.get(address, now) for address in self.peers}

    def silent(self, now: float, limit_s: float) -> list[str]:
        """The holders that were not heard for so long."""
        return [address for address, at in dict(self.heard).items() if now - at > limit_s]

    def code(self, sender: str, receiver: str) -> str:
        """What proves that a beat is a holder's."""
        return hmac.new(bytes.fromhex(self.secret), f"{sender} {receiver}".encode(), hashlib.sha256).hexdigest()

    def hear(self, now: float, words: list[str], own: str) -> bool:
        """Whether a beat is one of this lease's: it then counts."""
        if len(words) != 3 or words[1] != own or not self.secret:
            return False
        if not hmac.compare_digest(self.code(words[0], own).encode(), words[2].encode()):
            return False
        if words[0] in self.heard:
            self.heard[words[0]] = now
        return True


class Daemon:
    """The daemon. Three of its threads go on for ever: beats, renewals, and, on nodes that others ask, answers."""

    def __init__(self, config: Config, port: int = PORT) -> None:
        self.config, self.port = config, port
        self.own = config.here().address
        self.leases: list[Lease] = []
        self.managed = Leases(config.name)
        self.secret = secrets.token_hex(32)
        self._managing, self._mounting = threading.Lock(), threading.Lock()
        self._read_at = -1
        self.beats = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.beats.bind(("", port))
        self.asked = socket.socket(socket.AF_UNIX)
        Path(leases.SOCKET).unlink(missing_ok=True)  # whoever else lived here had the port, too
        self.asked.bind(leases.SOCKET)
        self.asked.listen(_BACKLOG)
        self.server: socketserver.ThreadingTCPServer | None = None
        self._goes = False
        self.read()

    @property
    def limit_s(self) -> float:
        return float(self.config.settings[leases.FAILURE_DETECTION])

    @property
    def every_s(self) -> float:
        return self.limit_s / leases.RENEWALS

    def run(self) -> None:
        """Go on until the cluster has no failureDetectionTime, or not this node."""
        self._goes = True
        if self.server:
            self._answer_for_ever()
        threading.Thread(target=self._renew_for_ever, daemon=True).start()
        due = time.monotonic()
        while True:
            now = time.monotonic()
            if now >= due:
                self.beat()
                due = now + self.every_s
            ready, _, _ = select.select([self.beats, self.asked], [], [], due - now)
            if self.beats in ready:
                self.hear(self.beats.recv(_BEAT))
            if self.asked in ready:
                self.tell(self.asked.accept()[0])

    # the configuration

    def read(self) -> None:
        """Read the configuration where it has changed, which is seen without reading it."""
        changed = (configuration.VAR / "gen" / "cluster").stat().st_mtime_ns
        if changed == self._read_at:
            return
        config = configuration.load()
        if leases.FAILURE_DETECTION not in config.settings:
            raise Refused(f"cluster {config.name} has no {leases.FAILURE_DETECTION}; mcchconfig gives it one")
        here = config.here()
        self.own = here.address
        self.config, self._read_at = config, changed
        if not self.server and (here.quorum or here.name in config.servers):
            self.server = _server(self)
            if self._goes:
                self._answer_for_ever()
        manager = self.config.node(self.config.server).address
        owners = {self.config.name: [manager]} if self.config.filesystems else {}
        owners |= {remote.name: remote.contacts.split(",") for remote in self.config.remote_clusters}
        held = {lease.cluster: lease for lease in self.leases}
        self.leases = [held.get(name) or Lease(name, contacts) for name, contacts in owners.items()]
        for lease in self.leases:
            lease.contacts = owners[lease.cluster]

    # beats

    def beat(self) -> None:
        """Send a beat to all who hold a lease where this node does."""
        subnets = leases.parse_subnets(self.config.settings.get(leases.SUBNETS, ""))
        own = sorted(configuration.own_addresses())
        for lease in list(self.leases):
            for peer, others in lease.peers.items():
                to = leases.spoken_to_at(subnets, own, peer, others)
                with contextlib.suppress(OSError):  # who cannot be sent to hears nothing, and says so
                    self.beats.sendto(f"{self.own} {peer} {lease.code(self.own, peer)}".encode(), (to, self.port))

    def hear(self, beat: bytes) -> None:
        """Note a beat; what is none is dropped."""
        words = beat.decode(errors="replace").split()
        now = time.monotonic()
        for lease in list(self.leases):
            if lease.hear(now, words, self.own):
                return

    def tell(self, asker: socket.socket) -> None:
        """Say by whom this node is expelled, and why."""
        said = {lease.cluster: lease.expelled for lease in self.leases if lease.expelled}
        with asker, contextlib.suppress(OSError):
            asker.sendall(json.dumps(said).encode())

    # leases

    def _renew_for_ever(self) -> None:
        refused = 0
        while True:
            try:
                self.read()
                refused = 0
            except Refused as why:
                refused += 1
                if refused == _SURE:
                    daemons.log(f"{self.own}: the lease daemon ends: {why}")
                    os._exit(0)
            except (OSError, KeyError, ValueError):
                pass  # files that are being exchanged, or on a server that is away: the next time
            for lease in list(self.leases):
                self.renew(lease)
            time.sleep(self.every_s)

    def renew(self, lease: Lease) -> None:
        """Renew a lease. Where no manager answers all stays as it is."""
        was = lease.expelled
        silent = lease.silent(time.monotonic(), self.limit_s)
        wanted = {"address": self.own, "addresses": sorted(configuration.own_addresses()), "silent": silent}
        try:
            answer = self._ask(lease, wanted)
            lease.take(time.monotonic(), answer, self.own, self.limit_s)
        except (OSError, KeyError):  # no answer, or none of a manager's
            if lease.link:
                lease.link.close()
            lease.link = None
            return
        if lease.expelled and not was:
            threading.Thread(target=self.let_go, args=[lease]).start()
        if was and not lease.expelled:
            threading.Thread(target=self.come_back, args=[lease]).start()

    def _ask(self, lease: Lease, wanted: dict[str, Any]) -> dict[str, Any]:
        """What the manager answers; its contacts say who it is where there is no connection. OSError: nobody does."""
        if lease.link:
            lease.link.say(wanted)
            return lease.link.hear()
        why: OSError = ConnectionError(f"{lease.cluster} has no contacts")
        for contact in lease.contacts:
            try:
                answer = self._meet(lease, contact, wanted)
                return self._meet(lease, answer["manager"], wanted) if "manager" in answer else answer
            except OSError as error:
                why = error
        raise why

    def _meet(self, lease: Lease, host: str, wanted: dict[str, Any]) -> dict[str, Any]:
        """What a node of a cluster answers, over a new connection. OSError: it does not, or has another one's key."""
        if lease.link:
            lease.link.close()
        lease.link = Link(self.config, socket.create_connection((host, self.port), native.CONNECT_S), native.CONNECT_S)
        if lease.link.cluster != lease.cluster:
            raise ConnectionError(f"{host} shows the key of {lease.link.cluster}")
        lease.link.say(wanted)
        return lease.link.hear()

    def _answer_for_ever(self) -> None:
        """Answer who asks for leases: on quorum nodes, and on those that keep the configuration, or may have to."""
        assert self.server
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": None}, daemon=True).start()

    def answer(self, cluster: str, asked: dict[str, Any]) -> dict[str, Any]:
        """What a node of a cluster that asks for a lease is answered."""
        config = self.config
        if config.here().name != config.server:
            return {"manager": config.node(config.server).address}
        now, address = time.monotonic(), str(asked["address"])
        quorum = cluster == config.name and any(n.address == address and n.quorum for n in config.nodes)
        with self._managing:
            addresses = [str(word) for word in asked["addresses"]]
            silent = [str(word) for word in asked["silent"]]
            held = self.managed.renew(now, cluster, address, addresses, silent, quorum=quorum)
            for decided in self.managed.judge(now, self.limit_s):
                daemons.log(decided)
            holders = {holder.address: holder.addresses for holder in self.managed.holders.values()}
        return {"secret": self.secret, "holders": holders, "expelled": held.expelled}

    # mounts

    def let_go(self, lease: Lease) -> None:
        """Take away from this node what it has mounted of a cluster that has expelled it."""
        with self._mounting:
            daemons.log(f"{self.own}: expelled by {lease.cluster}: {lease.expelled}")
            driver = of(self.config)
            for filesystem in self._mounted_of(lease.cluster):
                lease.taken.append(filesystem)
                try:
                    driver.unmount(filesystem.mount_point, force=True)
                except Refused as refused:
                    daemons.log(str(refused))

    def come_back(self, lease: Lease) -> None:
        """Mount again what was taken away, as often as it takes, unless it is expelled once more."""
        with self._mounting:
            daemons.log(f"{self.own}: {lease.cluster} has let it in again")
            while lease.taken and not lease.expelled:
                try:
                    daemons.log(mounts.mount_here(self.config, lease.taken[0]))
                    lease.taken.pop(0)
                except Refused as refused:
                    daemons.log(str(refused))
                    time.sleep(self.every_s)

    def _mounted_of(self, cluster: str) -> Iterator[Known]:
        remote = {f.name: f.cluster for f in self.config.remote_filesystems}
        for filesystem in mounts.known(self.config):
            owner = self.config.name if filesystem.own else remote[filesystem.name]
            if owner == cluster and of(self.config).mounted(filesystem.mount_point):
                yield filesystem


def _server(daemon: Daemon) -> socketserver.ThreadingTCPServer:
    class Answers(socketserver.BaseRequestHandler):
        """One node's connection, as long as it lasts."""

        def handle(self) -> None:
            try:
                link = Link(daemon.config, self.request, daemon.limit_s, serves=True)
                while True:
                    link.say(daemon.answer(link.cluster, link.hear()))
            except (OSError, KeyError, Refused):
                return  # it has gone, it is no node of ours, or may not: then it is told nothing

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address, daemon_threads, request_queue_size = True, True, _BACKLOG

    return Server(("", daemon.port), Answers)


def main() -> None:
    """Begin, and go on alone: whoever has started it is told whether it has begun."""
    try:
        daemon = Daemon(configuration.load())
    except (OSError, Refused) as error:
        sys.exit(f"mcleased: {error}")
    if os.fork():
        os._exit(0)
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    daemon.run()
