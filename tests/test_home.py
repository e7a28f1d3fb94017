"""One home directory, however HOLDFAST_HOME spells it, for every command and in every process."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.app import App
from holdfast.errors import UsageError
from holdfast.home import Home, home_of
from holdfast.system import Clock
from tests import fork_server
from tests.scale import QUICK

WAIT_S = 60.0
SPELLINGS = ("symlink",) if QUICK else ("relative", "dotted", "symlink", "spaces", "tilde")
SHOP = "def total(cart):\n    return sum(line.price for line in cart)\n"


class Machine:
    """A user in a working directory, whose home is spelled in one of several ways."""

    def __init__(self, folder: Path, spelling: str) -> None:
        self.cwd, self.user = folder / "work", folder / "user"
        self.cwd.mkdir()
        self.user.mkdir()
        (self.cwd / "shop.py").write_text(SHOP)
        (self.cwd / "sub").mkdir()
        self.home, named = {
            "relative": (self.cwd / "home", "home"),
            "dotted": (folder / "home", "sub/../../home"),
            "symlink": (folder / "real", str(folder / "link")),
            "spaces": (folder / "my home ", str(folder / "my home ")),
            "tilde": (self.user / "holdfast home", "~/holdfast home"),
            "read-only": (folder / "closed" / "home", str(folder / "closed" / "home")),
        }[spelling]
        self.hindered = spelling == "read-only"
        if spelling == "read-only":
            (folder / "closed").mkdir(mode=0o500)
        if spelling == "symlink":
            (folder / "link").symlink_to(folder / "real")
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("HOLDFAST", "CLAUDE", "CODEX"))
        }
        self.environment = {**kept, "HOME": str(self.user), "HOLDFAST_HOME": named}

    def run(
        self, *words: str, code: int | None = 0, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = fork_server.run(
            *words, env=self.environment, cwd=self.cwd, stdin=stdin, hindered=self.hindered
        )
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done

    @contextmanager
    def process(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        started = subprocess.Popen(
            [sys.executable, "-m", "holdfast.cli.main", *words],
            env=self.environment,
            cwd=self.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with started:
            yield started
            started.terminate()


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture(params=SPELLINGS)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path, request.param)
    yield made
    made.run("mcp", "--stop")


@pytest.mark.long
@pytest.mark.shows("HOME-ONE")
def test_every_command_and_process_uses_the_same_directory(machine: Machine) -> None:
    """A relative home made the host listen in home/run/home/run, where no shim looked."""
    machine.run("memory", "set", "note:one", '"kept"')
    assert "kept" in machine.run("memory", "get", "note:one").stdout
    machine.run("index", "create", ".")
    assert "shop.py" in machine.run("search", "sym:total").stdout
    machine.run("read", "shop.py", "--session", "work")
    assert "unchanged" in machine.run("read", "shop.py", "--session", "work").stdout
    machine.run("locate", "sum(line.price")
    machine.run("keys", "new")
    assert json.loads(machine.run("status", "--json").stdout)["home"] == str(machine.home)
    assert str(machine.home) in machine.run("doctor", code=None).stdout
    with machine.process("mcp") as shim:
        assert shim.stdin is not None
        assert shim.stdout is not None
        shim.stdin.write(json.dumps(INITIALIZE) + "\n")
        shim.stdin.flush()
        answer = json.loads(shim.stdout.readline())
        assert answer["result"]["serverInfo"]["name"] == "holdfast"
        assert json.loads(machine.run("mcp", "--status", "--json").stdout)["running"]
    with machine.process("serve", "--port", "0", "--json", "--show-token") as server:
        assert server.stdout is not None
        token = json.loads(server.stdout.readline())["token"]
    assert (machine.home / "token").read_text().strip() == token
    with machine.process("serve", "--port", "0") as server:
        assert server.stdout is not None
        words = [server.stdout.readline() for _ in range(4)][-1]
    assert str(machine.home / "token") in words, "the file itself, not where it usually is"
    assert machine.home.stat().st_mode & 0o077 == 0
    assert {path.name for path in machine.home.iterdir()} >= {"spaces", "index", "run", "keys"}
    assert list(machine.home.rglob("home")) == [], "no home inside the home"


@pytest.mark.shows("HOME-ONE")
@pytest.mark.parametrize(
    "words",
    [
        ("memory", "set", "note:one", '"kept"'),
        ("index", "create", "."),
        ("keys", "new"),
        ("mcp",),
        ("serve", "--port", "0"),
    ],
    ids=lambda words: words[0],
)
def test_a_home_that_cannot_be_made_is_one_sentence_and_a_hint(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    done = Machine(tmp_path, "read-only").run(*words, code=None, stdin="")
    assert done.returncode == 1
    assert f"{tmp_path}/closed/home" in done.stderr
    assert "hint: set HOLDFAST_HOME to a directory that you may write" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.shows("HOME-ONE")
@pytest.mark.parametrize(
    "words",
    [
        ("memory", "list"),
        ("index", "list"),
        ("status",),
        ("doctor",),
        ("mcp", "--status"),
        ("mcp", "--stop"),
        ("read", "shop.py"),
        ("read", "shop.py", "--session", "work"),
        ("locate", "sum(line"),
        ("search", "total"),
        ("install", "--client", "pi", "--dry-run"),
        ("keys", "show"),
    ],
    ids=" ".join,
)
def test_a_home_that_cannot_be_made_does_not_break_a_look(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    done = Machine(tmp_path, "read-only").run(*words, code=None)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1)
    assert done.stdout or "hint:" in done.stderr


def test_a_home_is_resolved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = home_of({"HOLDFAST_HOME": "home"})
    monkeypatch.chdir("/")
    assert home.path == tmp_path / "home"
    assert home == Home(tmp_path / "home")
    assert home_of({"HOME": "/u"}).root == "/u/.holdfast"
    assert home_of({"HOME": "/u", "HOLDFAST_HOME": "~/h"}).root == "/u/h"


def test_a_relative_home_in_a_directory_that_is_gone_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="relative path 'home'") as refused:
        home_of({"HOLDFAST_HOME": "home"})
    assert "absolute" in refused.value.hint


def test_the_app_hands_out_its_clock_and_ids(tmp_path: Path) -> None:
    class Stopped(Clock):
        def now_ms(self) -> int:
            return 7

    app = App(tmp_path, clock=Stopped(), new_id=lambda: "n")
    assert app.writer_id("cli") == "cli-n"
    assert app.reader(str(tmp_path))._now_ms() == 7
    assert app.with_home(tmp_path / "other").clock.now_ms() == 7


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A directory that other users may enter; that of pytest they may not."""
    with tempfile.TemporaryDirectory(prefix="hf-") as made:
        Path(made).chmod(0o755)
        yield Path(made).resolve()


@pytest.mark.shows("SEC-HOME-OWNER")
@pytest.mark.skipif(os.getuid() != 0, reason="becoming another user needs root")
def test_a_home_that_another_user_made_is_refused(reachable: Path) -> None:
    """Anyone could make /tmp/.holdfast first, with a token and settings of their choice."""
    planted = reachable / "planted"
    planted.mkdir(mode=0o777)
    (planted / "token").write_text("a token that the other user knows, long enough")
    (planted / "settings.toml").write_text('[workspace]\nallow = ["/"]\n')

    def user(owner: int) -> str:
        os.chown(planted, owner, owner)
        asked = (
            "import os, sys\nfrom holdfast.home import home_of\n"
            "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            "try:\n    print(home_of({'HOLDFAST_HOME': sys.argv[1], 'HOME': '/'}).root)\n"
            "except Exception as error:\n    print(error, error.hint)\n"
        )
        command = [sys.executable, "-c", asked, os.fspath(planted)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "belongs to another user" in user(65533)
    assert "set HOLDFAST_HOME" in user(65533)
    assert os.fspath(planted) in user(65534)
    assert home_of({"HOLDFAST_HOME": os.fspath(planted)}).root == os.fspath(planted), "root may"


@pytest.mark.shows("SEC-HOME-OWNER")
def test_a_home_that_others_may_write_is_closed_to_them(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    Path(home.root).mkdir()
    Path(home.root).chmod(0o777)
    home.make()
    assert Path(home.root).stat().st_mode & 0o777 == 0o755
