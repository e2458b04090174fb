"""Keys that are others than those that the site knows. No private key is ever printed."""

from causeway.errors import BadInput
from causeway.lab.changes.change import Change, Step
from causeway.lab.changes.files import put_back, write
from causeway.lab.faults.parameters import Host
from causeway.lab.lab import Lab
from causeway.render.secrets import KeyPair

_HOST_KEY = "/etc/ssh/ssh_host_ed25519_key"
_OWN_KEY = "/root/.ssh/id_ed25519.pub"
_AUTHORIZED = "/root/.ssh/authorized_keys"


def host_key_wrong(lab: Lab, node: Host) -> Change:
    """A node's sshd has another key than its clients know, as after a fresh installation.

    Injected: both halves of the host key are replaced by a new pair, and sshd reads them.
    Triggers: who logs in on the node reads REMOTE HOST IDENTIFICATION HAS CHANGED, and gets no further; ssh from the
    node works, and so do sessions that are open.
    Look: log in from and to each node without a prompt (`ssh -o BatchMode=yes`), and read the first refusal.
    """
    pair, public = KeyPair(node), f"{_HOST_KEY}.pub"
    read = Step(node, ("sh", "-c", "pkill -HUP -o -x sshd || :"))
    there = (write(node, _HOST_KEY, pair.private), write(node, public, f"{pair.public} {node}\n"), read)
    back = (put_back(lab, node, _HOST_KEY), put_back(lab, node, public), read)
    return Change(f"sshd of {node} has another key", there, back)


def authorized_key_wrong(lab: Lab, node: Host, client: Host) -> Change:
    """A node lets in another key than the one that a client's root has.

    Injected: the client's line in the node's authorized_keys gets a new key. All I/O nodes share one line.
    Triggers: root's ssh from the client to the node ends with "Permission denied"; other clients, and the other
    direction, go on.
    Look: log in from and to each node without a prompt (`ssh -o BatchMode=yes`), and read the first refusal.
    """
    key = lab.read(client, _OWN_KEY).split()[1]
    text = lab.read(node, _AUTHORIZED)
    if key not in text:
        raise BadInput(f"{node} does not let root of {client} in anyway; choose a client that it knows")
    other = text.replace(key, KeyPair(client).public.split()[1])
    there, back = write(node, _AUTHORIZED, other), put_back(lab, node, _AUTHORIZED)
    return Change(f"{node} has another key for root of {client}", (there,), (back,))
