"""Keys of clusters, made and read by the real openssl."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mc import keys, native
from mc.drivers import gluster
from mc.native import Refused
from tests.unit.mc_node import configured

BLUE = "blue.example"


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """What is for its owner alone must be so where others may read what nobody cares about."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def trust(folder: Path) -> None:
    """Have the driver's daemons know the keys in a folder called ssl."""
    gluster.trust(configured("blue.example", folder=folder.parent))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The keys of blue while they are changed: two pairs, the first in use."""
    folder = tmp_path_factory.mktemp("blue") / "ssl"
    folder.mkdir()
    keys.generate(folder, BLUE)
    keys.generate(folder, BLUE)
    trust(folder)
    return folder


@pytest.fixture(scope="module")
def green(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("green") / "ssl"
    folder.mkdir()
    keys.generate(folder, "green.example")
    trust(folder)
    return folder


@pytest.fixture
def blue(made: Path, tmp_path: Path) -> Path:
    """A copy of blue's keys, to be changed."""
    native.must(["cp", "-a", str(made), str(tmp_path / "ssl")])
    return tmp_path / "ssl"


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def certificates(file: Path) -> int:
    return file.read_text().count("-----BEGIN CERTIFICATE-----")


def test_a_folder_without_keys_has_none(tmp_path: Path) -> None:
    assert keys.numbers(tmp_path) == []
    assert keys.in_use(tmp_path) is None
    assert keys.digests(tmp_path / "id_rsa.pub") == []


def test_the_first_pair_is_used_at_once_and_is_what_the_daemons_read(green: Path) -> None:
    assert keys.numbers(green) == [1]
    assert keys.in_use(green) == 1
    assert (green / "glusterfs.key").read_text() == (green / "id_rsa1").read_text()
    assert (green / "glusterfs.pem").read_text() == (green / "id_rsa1.cert").read_text()
    assert (green / "glusterfs.ca").read_text() == (green / "id_rsa.pub").read_text()
    assert keys.names((green / "id_rsa.pub").read_text()) == (["green.example"], ["green.example"])


def test_private_keys_are_their_owners_alone(made: Path) -> None:
    private = {file.name for file in made.iterdir() if "PRIVATE KEY" in file.read_text()}
    assert private == {"id_rsa1", "id_rsa2", "id_rsa", "glusterfs.key"}
    assert {mode(made / name) for name in private} == {0o600}


def test_a_second_pair_is_published_and_not_yet_used(made: Path) -> None:
    assert keys.numbers(made) == [1, 2]
    assert keys.in_use(made) == 1
    assert certificates(made / "id_rsa.pub") == certificates(made / "glusterfs.ca") == 2
    assert len(set(keys.digests(made / "id_rsa.pub"))) == 2


def test_a_commit_uses_the_new_pair_and_forgets_the_old(blue: Path) -> None:
    new = keys.digests(blue / "id_rsa2.cert")
    keys.use(blue, 2)
    keys.drop(blue, 1)
    keys.publish(blue)
    trust(blue)
    assert (keys.numbers(blue), keys.in_use(blue)) == ([2], 2)
    for name in ("id_rsa.pub", "glusterfs.ca", "glusterfs.pem", "id_rsa.cert"):
        assert keys.digests(blue / name) == new, name
    assert not (blue / "id_rsa1").exists()


def test_the_pair_after_a_commit_gets_a_number_that_was_never_used(blue: Path) -> None:
    keys.use(blue, 2)
    keys.drop(blue, 1)
    keys.generate(blue, BLUE)
    assert (keys.numbers(blue), keys.in_use(blue)) == ([2, 3], 2)


def test_servers_trust_those_who_may_mount_and_mounts_those_who_serve(blue: Path, green: Path) -> None:
    public = (green / "id_rsa.pub").read_text()
    (blue / "authorized_cluster.green.example").write_text(public)
    trust(blue)
    own = (blue / "id_rsa.pub").read_text()
    assert certificates(blue / "id_rsa.pub") == 2, "what others are to know is one's own keys only"
    assert (blue / "glusterfs.clients").read_text() == own + public
    assert (blue / "glusterfs.ca").read_text() == own
    (blue / "authorized_cluster.green.example").rename(blue / "known_cluster.green.example")
    trust(blue)
    assert (blue / "glusterfs.clients").read_text() == own
    assert (blue / "glusterfs.ca").read_text() == own + public


def test_the_public_keys_of_a_cluster_are_read_one_or_two(made: Path, green: Path) -> None:
    for folder, name in ((made, BLUE), (green, "green.example")):
        file = folder / "id_rsa.pub"
        assert keys.read_public(file, name) == file.read_text()


def test_a_certificate_of_no_key_has_no_digest(made: Path, tmp_path: Path) -> None:
    file = tmp_path / "spoiled"
    file.write_text(spoiled((made / "id_rsa1.cert").read_text()))
    assert keys.digests(file) == ["unreadable"]


def spoiled(certificate: str) -> str:
    """It begins and ends as before, and its middle is gone."""
    lines = certificate.splitlines(keepends=True)
    return "".join([*lines[:3], *lines[-2:]])


#: name -> (what is in the file, made of blue's folder; what is said of it)
WRONG: dict[str, tuple[Callable[[Path], bytes | None], str]] = {
    "missing": (lambda _: None, "No such file or directory"),
    "binary": (lambda _: b"\x7fELF\xff\xfe\x00", "this is no text"),
    "empty": (lambda _: b"", "this is no public key, or a part of one only"),
    "a private key": (
        lambda folder: (folder / "id_rsa").read_bytes(),
        "this is a PRIVATE key, which no other cluster may have",
    ),
    "both keys of a pair": (
        lambda folder: (folder / "id_rsa.pub").read_bytes() + (folder / "id_rsa").read_bytes(),
        "this is a PRIVATE key, which no other cluster may have",
    ),
    "its end is missing": (
        lambda folder: (folder / "id_rsa1.cert").read_bytes()[:600],
        "this is no public key, or a part of one only",
    ),
    "the end of the second is missing": (
        lambda folder: (folder / "id_rsa.pub").read_bytes()[:-600],
        "this is no public key, or a part of one only",
    ),
    "its middle is missing": (
        lambda folder: spoiled((folder / "id_rsa1.cert").read_text()).encode(),
        "openssl cannot read it",
    ),
    "an ssh key": (lambda _: b"ssh-rsa AAAAB3NzaC1yc2E root@SN\n", "this is no public key, or a part of one only"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_public_key_is_refused_with_the_remedy(name: str, made: Path, tmp_path: Path) -> None:
    content, said = WRONG[name]
    file = tmp_path / "blue.pub"
    if (text := content(made)) is not None:
        file.write_bytes(text)
    with pytest.raises(Refused) as caught:
        keys.read_public(file, BLUE)
    remedy = f"copy /var/mc/ssl/id_rsa.pub from a node of {BLUE} again"
    also = ", and change that key" if "PRIVATE" in said else ""
    assert str(caught.value) == f"{file}: {said}; {remedy}{also}"


def test_another_clusters_key_is_refused_by_its_name_also_beside_the_right_one(made: Path, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"this is the public key of blue\.example, not of green\.example"):
        keys.read_public(made / "id_rsa.pub", "green.example")
    red = tmp_path / "red"
    red.mkdir()
    keys.generate(red, "red.example")
    both = tmp_path / "both.pub"
    both.write_text((made / "id_rsa1.cert").read_text() + (red / "id_rsa1.cert").read_text())
    with pytest.raises(Refused, match=r"this is the public key of red\.example, not of blue\.example"):
        keys.read_public(both, BLUE)


#: what -> how openssl makes a public key of blue's name that is not a cluster's, and what is said of it
FORGED = {
    "could sign others": ({"basicConstraints": "critical,CA:TRUE"}, "it lacks CA:FALSE (Basic Constraints)"),
    "may sign certificates": (
        {"keyUsage": "digitalSignature,keyCertSign"},
        "it lacks Digital Signature (Key Usage)",
    ),
    "is for mail": (
        {"extendedKeyUsage": "emailProtection"},
        "it lacks TLS Web Server Authentication, TLS Web Client Authentication (Extended Key Usage)",
    ),
}


def make(folder: Path, name: str, *options: str) -> str:
    """A public key as openssl makes it by these options."""
    key, file = folder / f"{name}.key", folder / f"{name}.pub"
    argv = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(file)]
    native.must([*argv, *options])
    return file.read_text()


def extensions(**other: str) -> list[str]:
    return [word for name, value in (keys.EXTENSIONS | other).items() for word in ("-addext", f"{name}={value}")]


@pytest.mark.parametrize("what", FORGED)
def test_a_key_that_could_do_more_than_a_clusters_may_is_refused(what: str, tmp_path: Path) -> None:
    other, said = FORGED[what]
    make(tmp_path, "blue", "-subj", f"/CN={BLUE}", *extensions(**other))
    with pytest.raises(Refused, match="it could be used for more than a cluster's key may be") as caught:
        keys.read_public(tmp_path / "blue.pub", BLUE)
    assert f"; {said}; copy" in str(caught.value)


def test_a_key_as_openssl_makes_it_by_itself_is_that_of_an_authority_and_is_refused(tmp_path: Path) -> None:
    make(tmp_path, "blue", "-subj", f"/CN={BLUE}")
    with pytest.raises(Refused, match="it lacks CA:FALSE"):
        keys.read_public(tmp_path / "blue.pub", BLUE)


@pytest.mark.parametrize("subject", [f"/CN={BLUE}/CN=green.example", f"/O=x/CN={BLUE}", f"/CN=*.{BLUE}"])
def test_a_key_of_more_than_one_name_or_of_a_pattern_is_refused(subject: str, tmp_path: Path) -> None:
    make(tmp_path, "blue", "-subj", subject, *extensions())
    with pytest.raises(Refused, match=r"this is the public key of .*, not of blue"):
        keys.read_public(tmp_path / "blue.pub", BLUE)


def test_a_key_that_another_cluster_has_signed_is_refused_and_by_openssl_too(green: Path, tmp_path: Path) -> None:
    signer = ["-CA", str(green / "id_rsa.cert"), "-CAkey", str(green / "id_rsa")]
    forged = make(tmp_path, "forged", "-subj", f"/CN={BLUE}", *extensions(), *signer)
    with pytest.raises(Refused, match=r"green\.example has signed it, and who signs one key can sign others"):
        keys.read_public(tmp_path / "forged.pub", BLUE)
    trusted = str(green / "id_rsa.pub")
    assert native.run(["openssl", "verify", "-CAfile", trusted, str(tmp_path / "forged.pub")]).rc != 0
    # the same where green's key is what openssl makes by itself: that would do
    key = ["-key", str(green / "id_rsa"), "-subj", "/CN=green.example", "-x509", "-out", str(tmp_path / "ca.pub")]
    native.must(["openssl", "req", *key])
    native.must(["openssl", "verify", "-CAfile", str(tmp_path / "ca.pub"), str(tmp_path / "forged.pub")])
    assert "BEGIN CERTIFICATE" in forged


def test_what_is_made_here_can_be_both_ends_of_a_connection_and_sign_nothing(green: Path) -> None:
    said = native.must(["openssl", "x509", "-in", str(green / "id_rsa.pub"), "-noout", "-purpose"])
    for line in ("SSL client : Yes", "SSL server : Yes", "SSL client CA : No", "SSL server CA : No"):
        assert line in said
    own = str(green / "id_rsa.pub")
    for purpose in ("sslclient", "sslserver"):
        native.must(["openssl", "verify", "-purpose", purpose, "-CAfile", own, own])


def test_a_name_that_openssl_takes_for_none_makes_no_pair(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"^`openssl req .*` failed: "):
        keys.generate(tmp_path, "x" * 65)


def test_a_file_is_written_with_its_mode_from_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    write_text = Path.write_text

    def watched(file: Path, text: str) -> int:
        seen.append(mode(file))
        return write_text(file, text)

    monkeypatch.setattr(Path, "write_text", watched)
    file = tmp_path / "deep" / "secret"
    native.write(file, "one", 0o600)
    native.write(file, "two", 0o600)
    assert (seen, mode(file), file.read_text()) == ([0o600, 0o600], 0o600, "two")
    assert [path.name for path in file.parent.iterdir()] == ["secret"]


def test_what_a_kill_left_of_an_open_file_is_not_taken_for_a_secrets_place(tmp_path: Path) -> None:
    left = tmp_path / ".secret.new"
    left.write_text("half")
    left.chmod(0o644)
    native.write(tmp_path / "secret", "whole", 0o600)
    assert (mode(tmp_path / "secret"), (tmp_path / "secret").read_text()) == (0o600, "whole")
    assert not left.exists()
