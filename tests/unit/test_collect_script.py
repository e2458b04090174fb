"""collect.sh, run here on files of our own: what it prints of them, and what it keeps to itself."""

import shutil
import subprocess
from pathlib import Path

import pytest

from causeway.cli.app import main
from causeway.collect.output import SCRIPT, Output, Unreadable, read_output

KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIJx0q7mD0yq8vNEXAMPLE"
SECRETS = ("s3cret", "TOKEN", "private", KEY)
FILES = {
    "etc/hosts": "127.0.0.1 localhost\n== end\n10.0.0.1 one.site one # == taken\nno newline at the end",
    "etc/fstab": "//far/share /mnt cifs rw,password=s3cret,vers=3 0 0\n/dev/sda1 / ext4 defaults 0 1\n",
    "etc/ssh/ssh_host_ed25519_key": "private\n",
    "etc/ssh/ssh_host_ed25519_key.pub": f"ssh-ed25519 {KEY} root@one\n",
    "etc/ssh/ssh_known_hosts": f"# all\none,10.0.0.1 ssh-ed25519 {KEY} one\n@revoked * ssh-rsa {KEY}\n",
    "root/.ssh/id_ed25519": "private\n",
    "root/.ssh/authorized_keys": f'from="10.*",environment="TOKEN=s3cret" ssh-ed25519 {KEY} root@two\n# {KEY}\n',
    "etc/sysctl.d/90-own.conf": "# net.core.no = 1\nnet.ipv4.ip_forward = 1\n-net/ipv4/tcp_sack=1\nkernel.x = 3\n"
    "net.ipv4.tcp_fastopen_key = s3cret\nnet.ipv4.tcp_rmem = 4096 131072 99\n",
    "etc/chrony.conf": "server 10.0.0.2 iburst\n",
}


def collected(folder: Path, shell: str = "sh") -> str:
    """What the script prints where /etc and /root are in a folder."""
    text = SCRIPT.read_text()
    for place in ("etc", "root"):
        text = text.replace(f" /{place}/", f" {folder}/{place}/").replace(f"'/{place}/", f"'{folder}/{place}/")
    done = subprocess.run([shell, "-s"], input=text, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def output(text: str, tmp_path: Path) -> Output:
    file = tmp_path / "said"
    file.write_text(text)
    return read_output(file)


@pytest.mark.parametrize("shell", [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def test_contents_come_whole_and_are_never_taken_for_a_marker(root: Path, shell: str) -> None:
    said = output(collected(root, shell), root)
    assert said.lines("hosts") == [line for line in FILES["etc/hosts"].split("\n") if line]
    assert said.lines("chrony.conf") == ["server 10.0.0.2 iburst"]
    assert {"hosts", "fstab", "ssh_known_hosts", "key ssh_host_ed25519_key.pub"} <= set(said.lines("taken"))
    assert {"exports", "ntp.conf", "known_hosts"} <= set(said.lines("not there"))
    assert said.lines("end") == []


def test_no_secret_is_said_and_what_is_around_it_is(root: Path) -> None:
    text = collected(root)
    assert [secret for secret in SECRETS if secret in text] == []
    said = output(text, root)
    assert said.lines("fstab")[0] == "//far/share /mnt cifs rw,password=(left out),vers=3 0 0"
    assert said.lines("authorized_keys")[1:] == ["ssh-ed25519 root@two"]
    assert said.lines("ssh_known_hosts")[1:] == ["one,10.0.0.1 ssh-ed25519 one", "@revoked * ssh-rsa"]
    assert said.lines("key ssh_host_ed25519_key.pub")[1:] == ["ssh-ed25519 root@one"]


def test_a_secret_that_is_in_it_would_be_found(root: Path) -> None:
    (root / "etc/hosts").write_text("10.0.0.1 s3cret\n")
    assert "s3cret" in collected(root)


def test_keys_have_one_hash_a_file_which_is_the_same_for_the_same_keys(root: Path) -> None:
    def hash_of() -> str:
        return output(collected(root), root).lines("authorized_keys")[0]

    first = hash_of()
    assert len(first.removeprefix("sha256 ")) == 64 and hash_of() == first
    (root / "root/.ssh/authorized_keys").write_text(f"ssh-ed25519 {KEY}x root@two\n")
    assert hash_of() != first


def test_tunables_are_those_of_the_network_that_are_set_and_some_more(root: Path) -> None:
    said = output(collected(root), root)
    assert said.lines("sysctl-set") == [
        "net.ipv4.ip_forward = 1",
        "net/ipv4/tcp_sack =1",
        "net.ipv4.tcp_rmem = 4096 131072 99",
    ]
    names = [line.split(":")[0] for line in said.lines("sysctl")]
    assert "/proc/sys/net/ipv4/ip_forward" in names and not [name for name in names if "key" in name]


def test_the_command_prints_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect"]) == 0
    assert capsys.readouterr().out == SCRIPT.read_text()


WHOLE = "causeway collect 1\n== hostname\n one\n== end\n"


@pytest.mark.parametrize(
    ("text", "why"),
    {
        "": "it does not begin with 'causeway collect 1'",
        "#!/bin/sh\n": "it does not begin with",
        WHOLE.replace("== end\n", ""): "its end is missing",
        WHOLE + "== hostname\n": "its end is missing",
        WHOLE.replace(" one", "Connection closed"): "line 3 is none of collect.sh's",
        "causeway collect 1\n one\n== end\n": "line 2 is none of collect.sh's",
    }.items(),
)
def test_what_is_no_whole_output_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        output(text, tmp_path)
    assert output(WHOLE, tmp_path).lines("hostname") == ["one"]


def test_what_is_no_text_or_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"causeway collect 1\n\xff\xfe")
    with pytest.raises(Unreadable, match="no text"):
        read_output(tmp_path / "binary")
    with pytest.raises(Unreadable, match="directory"):
        read_output(tmp_path)


def test_lines_that_a_terminal_ended_are_read(tmp_path: Path) -> None:
    file = tmp_path / "said"
    file.write_bytes(WHOLE.replace("\n", "\r\n").encode())
    assert read_output(file).lines("hostname") == ["one"]
