"""Names, options, exit codes and messages of the mc commands; those that need no lab are done."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from causeway.docs.mc import mc_commands
from mc import config as configuration
from mc import daemons, keys, leases, main, native
from mc.config import Config, Grant, Node, change, load, save
from mc.drivers import gluster
from tests.unit.mc_node import HERE, Does, like

BIN = Path(__file__).parents[2] / "nodes/mc/bin"
COMMANDS = dict(mc_commands())


def test_each_command_has_its_name_in_the_folder_of_commands() -> None:
    links = {file.name for file in BIN.iterdir() if file.is_symlink()}
    assert links == main.COMMANDS.keys()
    assert {os.readlink(BIN / name) for name in links} == {"mc"}


def test_the_program_runs_by_itself_and_names_its_commands() -> None:
    done = subprocess.run([BIN / "mcauth", "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "genkey" in done.stdout
    done = subprocess.run([BIN / "mc"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.split() == ["call", "one", "of:", *sorted(main.COMMANDS)]


@pytest.mark.parametrize("command", [*main.COMMANDS, *COMMANDS])
def test_every_command_has_help(command: str, does: Does) -> None:
    said = does(f"{command} --help")
    assert (said.rc, said.err) == (0, "")
    assert said.out.startswith(f"usage: {command} ")


WRONG = [
    "mccrcluster",
    "mccrcluster -n FILE -p SN-b",
    "mcaddnode",
    "mcaddnode -n FILE SN-b",
    "mcdelnode",
    "mcchconfig",
    "mcstartup -a -w SN-b",
    "mcmount",
    "mccrfs work",
    "mcauth",
    "mcauth grand",
    "mcauth genkey",
    "mcauth genkey old",
    "mcauth add green.example",
    "mcauth grant green.example",
    "mcauth grant green.example -f work -a rx",
    "mcremotecluster add green.example -k FILE",
    "mcremotefs add work -C green.example",
    "mcremotefs add work -C green.example -T /work -A maybe",
    "mclscluster --jason",
    "mclsnode SN-b",
]


@pytest.mark.parametrize("line", WRONG)
@pytest.mark.usefixtures("cluster")
def test_wrong_usage_is_2_and_says_the_right_one(line: str, does: Does, var: Path) -> None:
    before = sorted(var.rglob("*"))
    said = does(line)
    assert (said.rc, said.out) == (2, "")
    assert said.err.startswith(f"usage: {line.split()[0]} ")
    assert sorted(var.rglob("*")) == before


@pytest.mark.parametrize("command", main.COMMANDS)
def test_whoever_is_not_root_is_refused(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    line = next(line for line in RIGHT if line.split()[0] == command)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("sys.argv", line.split())
    with pytest.raises(SystemExit, match=f"^{command}: you must be root$"):
        main.main()


#: One right line for each command.
RIGHT = [
    "mccrcluster -n /nowhere/nodes -p SN-b -C green.example",
    "mcchcluster -s SN-b",
    "mclscluster",
    "mcaddnode SN-b",
    "mcdelnode SN-b",
    "mclsnode",
    "mcstartup",
    "mcshutdown",
    "mcgetstate -L",
    "mcchconfig pingTimeout=5",
    "mclsconfig",
    "mccrfs work -T /work -s SN-b",
    "mcauth show",
    "mcremotecluster show",
    "mcremotefs show",
    "mcmount all",
    "mcumount all",
    "mclsmount",
    "mclsnsd",
]


@pytest.mark.parametrize("line", [line for line in RIGHT if not line.startswith("mccrcluster")])
def test_a_node_in_no_cluster_refuses_all(line: str, does: Does) -> None:
    why = "this node is in no cluster; mccrcluster makes one, mcaddnode adds it to one"
    assert does(line) == (1, "", f"{line.split()[0]}: {why}\n")


#: line -> what is said of it in cluster blue, which knows green by its key
REFUSED = {
    "mccrcluster -n {nodes} -p SN-b -C green.example": "this node is in cluster blue.example already"
    " ({var}/gen/cluster)",
    "mcaddnode -n /nowhere/nodes": "/nowhere/nodes: No such file or directory; a node file has a line NODE:ROLE for"
    " each node",
    "mcaddnode -n {binary}": "{binary}: this is no text; a node file has a line NODE:ROLE for each node",
    "mcaddnode -n {empty}": "name the nodes to add, or a file of them (-n)",
    "mcaddnode FEN-b:client-king SN-c:quorum SN-d:queen": "FEN-b:client-king: king is no role; use client, manager,"
    " nonquorum, quorum\nSN-d:queen: queen is no role; use client, manager, nonquorum, quorum",
    "mcdelnode FEN-b": "there is no node FEN-b in cluster blue.example; mclsnode lists its nodes",
    "mcdelnode sn-B": "SN-b is the configuration server; it cannot be deleted",
    "mcstartup -w FEN-b": "there is no node FEN-b in cluster blue.example; mclsnode lists its nodes",
    "mcchconfig worker1Threads=48": "there is no attribute 'worker1Threads'; the attributes are cipherList,"
    " failureDetectionTime, subnets, maxblocksize, autoload, uidDomain, pingTimeout, pagepool",
    "mcchconfig pagepool=128": "'128' is no size; give it as 1024K, 128M or 1G",
    "mcchconfig pagepool=2M": "pagepool=2M: give 4M to 1024M",
    "mcchconfig pagepool=8M -N FEN-b": "there is no node FEN-b in cluster blue.example; mclsnode lists its nodes",
    "mcchconfig autoload=yes -N SN-b": "autoload is the same on all nodes; -N is for pagepool",
    "mcchconfig autoload=perhaps": "autoload=perhaps: give yes or no",
    "mcchconfig uidDomain=a,b": "'a,b' is no name for a cluster; use letters, digits, dots and dashes",
    "mcchconfig maxblocksize=1000K": "maxblocksize=1000K: give one of 16K, 64K, 128K, 256K, 512K, 1024K",
    "mcchcluster": "say who keeps the configuration (-p), or who is the secondary (-s)",
    "mcchcluster -s FEN-b": "there is no node FEN-b in cluster blue.example; mclsnode lists its nodes",
    "mcchcluster -s SN-b": "SN-b cannot be both; give another node to -s, or ''",
    "mcchconfig cipherList=EMPTY": "cipherList=EMPTY: use AUTHONLY (what is sent is encrypted then, too)",
    "mcchconfig cipherList=AUTHONLY": "you must first generate a key: mcauth genkey new",
    "mcchconfig pingTimeout=soon": "pingTimeout=soon: give seconds, or 0 to wait for ever",
    "mcchconfig failureDetectionTime=35": "you must first generate a key: mcauth genkey new",
    "mcchconfig failureDetectionTime=4": "failureDetectionTime=4: give seconds, 5 or more, or DEFAULT",
    "mcchconfig failureDetectionTime=soon": "failureDetectionTime=soon: give seconds, 5 or more, or DEFAULT",
    "mcchconfig subnets=home": "subnets=home: Expected 4 octets in 'home'; give NETWORK/LENGTH, several with commas"
    " between them",
    "mcchconfig pingTimeout=DEFAULT": "pingTimeout=DEFAULT: give seconds, or 0 to wait for ever",
    "mcauth genkey commit": "there is no new key to commit; mcauth genkey new makes one",
    "mcauth add green.example -k {green}": "cluster green.example is known already; mcauth update changes its key",
    "mcauth add blue.example -k {green}": "cluster blue.example is known already; mcauth update changes its key",
    "mcauth add red.example -k {green}": "{green}: this is the public key of green.example, not of red.example;"
    " copy /var/mc/ssl/id_rsa.pub from a node of red.example again",
    "mcauth update red.example -k {green}": "there is no cluster red.example; known are: green.example (mcauth add adds"
    " one)",
    "mcauth add '*' -k {green}": "'*' is no name for a cluster; use letters, digits, dots and dashes",
    "mcauth add red,blue -k {green}": "'red,blue' is no name for a cluster; use letters, digits, dots and dashes",
    "mcauth delete red,green": "'red,green' is no name for a cluster; use letters, digits, dots and dashes",
    "mcremotecluster add ../red -k {green} -n n1": "'../red' is no name for a cluster; use letters, digits, dots and"
    " dashes",
    "mcauth show red.example": "there is no cluster red.example; known are: green.example (mcauth add adds one)",
    "mcauth grant green.example -f work": "cluster blue.example owns no filesystem work; it owns: none",
    "mcauth grant green.example -f work -r nobody": "-r nobody: give `no`, or the UID:GID that root is to be",
    "mcauth deny green.example -f work": "cluster blue.example owns no filesystem work; it owns: none",
    "mccrfs work -T /work -s SN-b": "filesystems are served to those who have a key only; first: mcchconfig"
    " cipherList=AUTHONLY",
    "mcremotecluster update red.example -k {green}": "there is no remote cluster red.example; mcremotecluster show"
    " lists them, add adds one",
    "mcremotecluster delete red.example": "there is no remote cluster red.example; mcremotecluster show lists them, add"
    " adds one",
    "mcremotefs add work -C red.example -T /work": "there is no remote cluster red.example; mcremotecluster show lists"
    " them, add adds one",
    **{
        f"mcremotefs add {words} -C green.example -T /work": f"{name} is no name for a filesystem; use letters, digits,"
        " _ and dashes, and not `all`"
        for words, name in {"../work": "'../work'", "w -f 'x;reboot'": "'x;reboot'", "all": "'all'"}.items()
    },
    **{
        f"mcremotefs add work -C green.example -T {at}": f"-T {at}: a mount point begins with /, has no / at its end,"
        " and no //, . or .. in it"
        for at in ("/work/", "/", "//work", "/a/../work", "/a/./b", "work")
    },
    "mcremotefs delete work": "there is no remote filesystem work; mcremotefs show lists them",
    "mcmount work": "there is no filesystem work in cluster blue.example; there are: none (mcremotefs add names one)",
}


@pytest.fixture
def known(cluster: Config, others: dict[str, str], var: Path, tmp_path: Path) -> dict[str, str]:
    """Cluster blue knows green; and the files that lines of REFUSED name."""
    words = {"green": others["green"], "var": str(var)}
    for name, content in {"nodes": b"SN-b:quorum\n", "binary": b"\x7fELF\xff", "empty": b"\n"}.items():
        (tmp_path / name).write_bytes(content)
        words[name] = str(tmp_path / name)
    green = configuration.RemoteCluster("green.example", "n1")
    save(like(cluster, clusters=["green.example"], remote_clusters=[green]), var)
    return words


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_done_is_1_and_each_line_says_who_and_why(
    line: str, does: Does, known: dict[str, str], var: Path
) -> None:
    before = {path: path.stat().st_mtime_ns for path in var.rglob("*") if path.is_file()}
    said = does(line.format(**known))
    assert (said.rc, said.out) == (1, "")
    name = line.split()[0]
    expected = REFUSED[line].format(**known).splitlines()
    assert said.err.splitlines() == [f"{name}: {why}" for why in expected]
    assert {p: p.stat().st_mtime_ns for p in var.rglob("*") if p.is_file()} == before


def test_a_cluster_is_refused_to_a_wrong_configuration_server_and_a_wrong_name(does: Does, tmp_path: Path) -> None:
    file = tmp_path / "nodes"
    file.write_text("SN-b:manager-nonquorum\nFEN-b:quorum\n")
    for options, said in {
        "-p SN-c -C blue": f"the configuration server SN-c is none of the nodes in {file}",
        "-p SN-b -C blue": "the configuration server SN-b must be a quorum node",
        "-p FEN-b -C blue -s SN-c": f"the secondary configuration server SN-c is none of the nodes in {file}",
        "-p FEN-b -C blue -s FEN-b": "FEN-b is the configuration server; another node can be the secondary one",
        "-p FEN-b -C blue -r ssh": "-r ssh: this is no program here; give its path from / on",
        "-p FEN-b -C blue -R /nowhere/scp": "-R /nowhere/scp: this is no program here; give its path from / on",
        "-p FEN-b -C blue -U 'my blue'": "'my blue' is no name for a cluster; use letters, digits, dots and dashes",
        "-p FEN-b -C 'my blue'": "'my blue' is no name for a cluster; use letters, digits, dots and dashes",
    }.items():
        assert does(f"mccrcluster -n {file} {options}") == (1, "", f"mccrcluster: {said}\n")
    assert not configuration.member()


def test_all_nodes_that_are_not_in_dns_are_named_at_once(
    does: Does, cluster: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a machine without the program `host`: it finds nobody
    monkeypatch.setenv("PATH", str(tmp_path))
    said = does("mcaddnode FEN-b R00-M0-NC-3:client-nonquorum")
    why = "host: not found; add it to DNS"
    assert (said.rc, said.out) == (1, "")
    assert said.err.splitlines() == [
        f"mcaddnode: unexpected output of 'host -t a FEN-b': {why}",
        f"mcaddnode: unexpected output of 'host -t a R00-M0-NC-3': {why}",
        "mcaddnode: nothing has been changed",
    ]
    assert vars(load()) == vars(cluster)


def test_the_redpapers_order_of_the_owners_commands(does: Does, known: dict[str, str]) -> None:
    """Keys, a cluster that is known, a new key, and that cluster forgotten again."""
    assert does("mcauth genkey new") == (0, "", "")
    show = json.loads(does("mcauth show --json").out)
    assert [row["cluster_name"] for row in show] == ["blue.example (this cluster)", "green.example"]
    assert show[1]["SHA-256_digest"] == "(no key)"
    assert does(f"mcauth update green.example -k {known['green']}").rc == 0
    (row,) = json.loads(does("mcauth show green.example --json").out)
    assert (len(row["SHA-256_digest"]), row["filesystem_access"]) == (64, "(none authorized)")
    assert "give it to the other clusters" in does("mcauth genkey new").out
    assert does("mcauth genkey new").err == "mcauth: a new key is waiting to be committed: mcauth genkey commit\n"
    assert does("mcauth genkey commit") == (0, "", "")
    assert does("mcauth delete green.example") == (0, "", "")
    config = load()
    assert config.clusters == []
    assert (config.ssl / "glusterfs.ca").read_text() == (config.ssl / "id_rsa.pub").read_text()


def test_what_others_own_is_named_mounted_nowhere_and_forgotten(does: Does, known: dict[str, str], var: Path) -> None:
    with change() as config:
        config.remote_clusters = [configuration.RemoteCluster("green.example", "n1,n2")]
    assert does(f"mcremotecluster update green.example -k {known['green']}").rc == 0
    assert does("mcremotefs add work -f scratch -C green.example -T work").err == (
        "mcremotefs: -T work: a mount point begins with /, has no / at its end, and no //, . or .. in it\n"
    )
    assert does("mcremotefs add work -f scratch -C green.example -T /nowhere/work").rc == 0
    again = "there is work at /nowhere/work already; mcremotefs show lists them"
    assert does("mcremotefs add more -C green.example -T /nowhere/work").err == f"mcremotefs: {again}\n"
    (shown,) = json.loads(does("mcremotecluster show --json").out)
    assert (shown["contact_nodes"], shown["filesystems"]) == ("n1,n2", "scratch (work)")
    (mount,) = json.loads(does("mclsmount --json").out)
    assert list(mount.values()) == ["SN-b", "work", "/nowhere/work", "not mounted"]
    assert does("mcremotecluster delete green.example").err == (
        "mcremotecluster: green.example owns work; first: mcremotefs delete work\n"
    )
    assert does("mcremotefs delete work").rc == 0
    assert does("mcremotecluster delete green.example").rc == 0
    assert not (var / "ssl" / "known_cluster.green.example").exists()


def test_a_node_that_does_not_answer_can_be_deleted_and_is_named(does: Does, cluster: Config, var: Path) -> None:
    save(like(cluster, nodes=[HERE, Node(2, "127.0.0.2", "127.0.0.2", "x")]), var)
    assert does("mcdelnode 127.0.0.2") == (
        0,
        "127.0.0.2 is deleted from cluster blue.example; it does not answer, and what it keeps in its"
        f" {var} stays there\n",
        "",
    )
    assert load().nodes == [HERE]


@pytest.mark.usefixtures("known")
def test_root_is_the_same_for_all_clusters_on_a_filesystem(does: Does) -> None:
    with change() as config:
        config.clusters.append("red.example")
        config.filesystems.append(configuration.Filesystem("work", "/work", "SN-b", "/disks/work/brick"))
        config.grants.append(Grant("green.example", "work", "rw", "99:99"))
    said = does("mcauth grant red.example -f work -r no")
    assert (said.rc, said.out) == (1, "")
    assert said.err == (
        "mcauth: for green.example root is 99:99 on work, and it is the same for all clusters (the servers have one"
        " setting a filesystem); use -r 99:99\n"
    )


@pytest.mark.usefixtures("cluster")
def test_tables_are_for_people_and_as_json_for_programs(does: Does) -> None:
    assert does("mclsnode").out == (
        "node number  node name  address    remarks\n"
        "----------------------------------------------\n"
        "1            SN-b       127.0.0.1  quorum node\n"
    )
    rows = [{"node_number": 1, "node_name": "SN-b", "address": "127.0.0.1", "remarks": "quorum node"}]
    assert json.loads(does("mclsnode --json").out) == rows
    about = {
        "cluster name": "blue.example",
        "cluster id": "0123456789abcdef",
        "UID domain": "blue.example",
        "remote shell": "ssh",
        "remote file copy": "by the remote shell",
        "configuration server": "SN-b",
        "secondary server": "(none)",
    }
    assert json.loads(does("mclscluster --json").out) == {"about": about, "rows": rows}
    assert does("mclscluster").out.startswith("cluster name:          blue.example\n")


@pytest.mark.usefixtures("cluster")
def test_a_table_without_rows_is_its_head(does: Does) -> None:
    head, rule = does("mcremotefs show").out.splitlines()
    assert head == "local name  remote name  cluster name  mount point  options  automount"
    assert set(rule) == {"-"}
    assert len(rule) == len(head)
    assert json.loads(does("mcremotefs show --json").out) == []


@pytest.mark.usefixtures("cluster")
def test_v_prints_each_native_command_and_change_on_standard_error(does: Does, var: Path) -> None:
    said = does("mcauth -v genkey new")
    assert (said.rc, said.out) == (0, "")
    steps = said.err.splitlines()
    assert all(step.startswith("+ ") for step in steps)
    assert steps[0].startswith("+ openssl req -x509 ")
    assert steps[-1] == f"+ ln -sfn state.b {var}/now"
    assert does("mcauth genkey -v new").err.startswith("+ openssl req -x509 ")
    assert does("mcauth show").err == ""


def test_what_leases_go_by_is_set_and_taken_away(cluster: Config, does: Does, var: Path) -> None:
    keys.generate(var / "ssl", cluster.name)
    for line in ("failureDetectionTime=35", "subnets=10.1.0.0/24,10.2.0.0/24"):
        assert does(f"mcchconfig {line}").rc == 0
    assert load().settings == {"failureDetectionTime": "35", "subnets": "10.1.0.0/24,10.2.0.0/24"}
    for _ in range(2):
        assert does("mcchconfig subnets=DEFAULT") == (0, "subnets is DEFAULT in cluster blue.example\n", "")
    assert load().settings == {"failureDetectionTime": "35"}


@pytest.mark.parametrize(("leases_s", "began"), [("", []), ("35", [["mcleased"]])])
def test_the_lease_daemon_begins_with_the_nodes_daemon_and_ends_with_it_where_it_is_wanted(
    leases_s: str, began: list[list[str]], cluster: Config, does: Does, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed: list[list[str]] = []
    running = iter([None, {}])
    monkeypatch.setattr(gluster, "answers", lambda *_: True)
    monkeypatch.setattr(gluster, "stop", lambda: None)
    monkeypatch.setattr(daemons, "_LOGS", var)
    monkeypatch.setattr(leases, "expelled", lambda: next(running))
    monkeypatch.setattr(native, "must", typed.append)
    monkeypatch.setattr(native, "run", lambda argv: typed.append(argv))
    monkeypatch.setattr(Config, "here", lambda _: HERE)
    save(like(cluster, settings={"failureDetectionTime": leases_s} if leases_s else {}), var)
    assert does("mcstartup").rc == does("mcstartup").rc == 0  # the second finds it running
    assert typed == began
    assert does("mcshutdown").rc == 0
    assert typed == [*began, *([["pkill", "-x", "mcleased"]] if leases_s else [])]


@pytest.mark.parametrize("secondary", ["", "FEN-b"])
def test_the_only_configuration_server_tells_those_that_it_starts_how_new_its_configuration_is(
    secondary: str, cluster: Config, does: Does, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed: list[list[str]] = []

    def run(argv: list[str]) -> native.Result:
        typed.append(argv)
        return native.Result(0, b"", "")

    save(like(cluster, secondary=secondary, generation=7), var)
    monkeypatch.setattr(Config, "here", lambda _: HERE)
    monkeypatch.setattr(native, "run", run)
    assert does("mcstartup -a").rc == 0
    assert typed == [["mcstartup", *([] if secondary else ["--as-of", "0123456789abcdef.7"])]]


@pytest.mark.parametrize(
    ("told", "asks"),
    [
        ("", 1),
        ("--as-of 0123456789abcdef.8", 1),
        ("--as-of fedcba9876543210.7", 1),
        ("--as-of 0123456789abcdef.7", 0),
    ],
)
def test_who_is_started_asks_for_the_configuration_unless_it_is_as_new(
    told: str, asks: int, cluster: Config, does: Does, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def fetch(config: Config) -> Config:
        asked.append(config.generation)
        return config

    save(like(cluster, generation=7), var)
    monkeypatch.setattr(Config, "here", lambda _: HERE)
    monkeypatch.setattr(configuration, "fetch", fetch)
    monkeypatch.setattr(gluster, "answers", lambda *_: True)
    monkeypatch.setattr(daemons, "_LOGS", var)
    assert does(f"mcstartup {told}").rc == 0
    assert asked == [7] * asks
