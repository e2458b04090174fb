"""Serve a disk over the network: NBD, for the clients that ask for one; the disk is a node's memory.

Runs on a node, by its own Python (standard library alone), with the port and the disk's size in bytes as arguments.
Each client has the same disk. Source: the NBD protocol (NetworkBlockDevice/nbd, doc/proto.md): the newstyle handshake,
of whose options it knows those that choose a disk, and simple replies.
"""

import mmap
import socket
import struct
import sys
import threading

#: The handshake: the server's two words, an option, and the answer to one.
HELLO, OPTION, ANSWER = 0x4E42444D41474943, 0x49484156454F5054, 0x3E889045565A9
#: Flags: of the handshake (fixed newstyle), of a disk (has flags, flush).
FIXED, DISK_FLAGS = 1, 0b101
#: Options: a disk's name at once, no more; what a disk is, the same and have it.
EXPORT_NAME, ABORT, INFO, GO = 1, 2, 6, 7
#: Answers: done, what the disk is, not known here.
ACK, ABOUT, UNKNOWN = 1, 3, 2**31 + 1
#: A request and its reply, and what a request may be.
REQUEST, REPLY = 0x25609513, 0x67446698
READ, WRITE, END = 0, 1, 2
#: How many clients it waits for, one after the other or at once.
CLIENTS = 1000


def take(client: socket.socket, size: int) -> bytes:
    """So many bytes of what a client sends; ConnectionError where it sends no more."""
    found = bytearray()
    while len(found) < size:
        more = client.recv(size - len(found))
        if not more:
            raise ConnectionError
        found += more
    return bytes(found)


def agree(client: socket.socket, size: int) -> None:
    """The handshake, until the client has a disk."""
    client.sendall(struct.pack(">QQH", HELLO, OPTION, FIXED))
    take(client, 4)
    option = 0
    while option not in (EXPORT_NAME, GO):
        _, option, length = struct.unpack(">QII", take(client, 16))
        take(client, length)
        if option == EXPORT_NAME:
            client.sendall(struct.pack(">QH", size, DISK_FLAGS) + bytes(124))
            return
        if option in (INFO, GO):
            about = struct.pack(">HQH", 0, size, DISK_FLAGS)
            client.sendall(struct.pack(">QIII", ANSWER, option, ABOUT, len(about)) + about)
        client.sendall(struct.pack(">QIII", ANSWER, option, ACK if option in (INFO, GO, ABORT) else UNKNOWN, 0))
        if option == ABORT:
            raise ConnectionError


def serve(client: socket.socket, disk: mmap.mmap) -> None:
    """One request after the other, until the client ends."""
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    kind = READ
    with client:
        try:
            agree(client, len(disk))
            while kind != END:
                _, _, kind, handle, offset, length = struct.unpack(">IHHQQI", take(client, 28))
                if kind == WRITE:
                    disk[offset : offset + length] = take(client, length)
                data = disk[offset : offset + length] if kind == READ else b""
                if kind != END:
                    client.sendall(struct.pack(">IIQ", REPLY, 0, handle) + data)
        except ConnectionError:
            return


def main() -> None:
    port, size = map(int, sys.argv[1:])
    disk = mmap.mmap(-1, size)
    with socket.create_server(("", port)) as listener:
        for _ in range(CLIENTS):
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, disk), daemon=True).start()


if __name__ == "__main__":
    main()
