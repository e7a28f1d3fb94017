"""`holdfast try`: a short tour that runs real commands on sample data.

Every line after a `$` is a command you could type, followed by its output. The tour works in a
temporary directory and removes it afterwards, so your own memory is not touched.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from holdfast.app import App
from holdfast.cli import main as cli
from holdfast.cli.output import BOLD, DIM, ProgressBar, styled

OK, REFUSED = 0, 1


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep", metavar="DIR", help="work in this directory and leave it for you to look at"
    )
    parser.add_argument("--json", action="store_true", help="a line of JSON for each step")


def run(args: argparse.Namespace, app: App) -> int:
    with _home(args.keep) as home:
        own = app.with_home(home)
        guide = Recorder(own) if args.json else Guide(own)
        for stop in STOPS:
            stop(guide)
        guide.end(home if args.keep else None)
    return REFUSED if guide.surprises else OK


@contextmanager
def _home(keep: str | None) -> Iterator[Path]:
    """A home directory for the tour, with a tree in it that is the working directory."""
    temporary = None if keep else tempfile.TemporaryDirectory(prefix="holdfast-try-")
    home = Path(keep).resolve() if keep else Path(temporary.name)  # type: ignore[union-attr]
    tree = home / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    here = Path.cwd()
    os.chdir(tree)
    try:
        yield home
    finally:
        os.chdir(here)
        if temporary is not None:
            temporary.cleanup()


class Guide:
    """Announces each step, runs it, and counts unexpected exit codes."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.surprises = 0

    def chapter(self, title: str) -> None:
        print(f"\n{styled(title, BOLD)}\n{'─' * len(title)}")

    def say(self, text: str) -> None:
        print(f"\n{styled(text, DIM)}")

    def write(self, name: str, text: str) -> Path:
        """Write a file into the tree of the tour."""
        path = Path(name)
        path.write_text(text)
        return path

    def do(self, *command: str, expect: int = OK) -> None:
        """Run a command as if it had been typed."""
        print(f"$ holdfast {shlex.join(command)}", flush=True)
        code = cli.main(command, self.app)
        sys.stdout.flush()
        if code != expect:
            self.surprises += 1
            print(f"(exit code {code}, expected {expect})", file=sys.stderr)

    def end(self, home: Path | None) -> None:
        print()
        if home is not None:
            print(f"Everything is in {home}; look with: HOLDFAST_HOME={home} holdfast memory log")
        print("That was the tour. Next:")
        print(
            "  holdfast install      have your agents use all this (--dry-run shows what it writes)"
        )
        print("  holdfast serve        the same in a browser, live")
        print("  holdfast --help       what else there is")


class Recorder(Guide):
    """The same tour for a program: a line of JSON for each command, and one at the end."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._chapter = self._said = ""
        self._steps = 0

    def chapter(self, title: str) -> None:
        self._chapter = title

    def say(self, text: str) -> None:
        self._said = text

    def do(self, *command: str, expect: int = OK) -> None:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = cli.main(command, self.app)
        self._steps += 1
        self.surprises += code != expect
        self._line(
            chapter=self._chapter,
            about=self._said,
            command=["holdfast", *command],
            exit=code,
            expected=expect,
            output=out.getvalue(),
            errors=err.getvalue(),
        )

    def end(self, home: Path | None) -> None:
        self._line(
            status="wrong" if self.surprises else "ok",
            steps=self._steps,
            surprises=self.surprises,
            home=None if home is None else str(home),
        )

    def _line(self, **facts: object) -> None:
        print(json.dumps(facts, ensure_ascii=False), flush=True)


SHOP = """def total(items):
    amount = 0
    for item in items:
        if item.active:
            amount += item.price * item.count
    return round(amount, 2)
"""


CART = """from shop import total


def checkout(cart):
    \"\"\"What the customer pays.\"\"\"
    return total(cart.items) + cart.shipping
"""


def reading(guide: Guide) -> None:
    """Read a file twice, change it, read it again, and ask why."""
    guide.chapter("Reading: only what the context does not already hold")
    guide.say("A session reads a file. The second time it is told that nothing changed.")
    shop = guide.write(
        "shop.py", SHOP + "".join(f"\n\ndef rate_{n}():\n    return {n}\n" for n in range(6))
    )
    guide.do("read", "shop.py", "--session", "tour")
    guide.do("read", "shop.py", "--session", "tour")
    guide.say("The file is edited. Now only the difference is sent.")
    shop.write_text(shop.read_text().replace("round(amount, 2)", "round(amount, 3)"))
    guide.do("read", "shop.py", "--session", "tour")
    guide.say("Every short answer can be explained: it refers to text that this session was shown.")
    guide.do("readcache", "explain", "shop.py", "--session", "tour")
    guide.say("And this is what a compaction would take away; after one, the list to recover from.")
    guide.do("context", "--session", "tour")


def index(guide: Guide) -> None:
    """Index the tour's small tree, search it, and query its calls."""
    guide.chapter("Index: what is in the tree, and proof that it is all there")
    guide.say("Two files are enough to show it. The index is proven, not assumed.")
    guide.write("shop.py", SHOP)
    guide.write("cart.py", CART)
    guide.do("index", "create")
    guide.do("search", "sum of the prices of active items")
    guide.do("outline", "cart.py")
    guide.do("calls", "shop.py", "total", "--direction", "callers")


def sequence(guide: Guide) -> None:
    """Quote a file almost right, and find what was copied."""
    guide.chapter("Sequence: does this run of tokens exist, where, how much of it")
    guide.say(
        "An edit that quotes a file almost right fails. This says where it stops being right:"
    )
    guide.write("cart.py", "import shop\n\n\n" + SHOP.replace("def total", "def cart_total"))
    guide.do("locate", "for item in items: if item.paid:", expect=REFUSED)
    guide.say("And this finds what was copied.")
    guide.do("clones", "--min-tokens", "25")


def memory(guide: Guide) -> None:
    """Commit, read back in time, branch, clash, merge, check."""
    guide.chapter("Memory: documents on branches, written in transactions")
    guide.say("A document is JSON. Writing it is a commit, and a commit has a seq.")
    plan = '{"title": "Ship 1.0", "steps": ["write", "test"], "owner": "ada"}'
    guide.do("memory", "set", "note:plan", plan)
    guide.do(
        "memory",
        "patch",
        "note:plan",
        '{"op": "append", "path": "/value/steps", "values": ["ship"]}',
    )
    guide.do("memory", "get", "note:plan", "/value/steps")

    guide.say("Nothing is lost: read it as it was at seq 1.")
    guide.do("memory", "at", "1", "note:plan")

    guide.say("A write can name what it read. This one read seq 1, and another commit came first:")
    guide.do("memory", "set", "note:plan", '"mine!"', "--if-seq", "1", expect=REFUSED)

    guide.say("Work on a branch. It costs one row, however much it inherits.")
    guide.do("memory", "branch", "create", "draft")
    edit = '[{"op": "replace", "path": "/value/title", "value": "Ship 1.0 on Friday"}]'
    guide.do("memory", "patch", "note:plan", edit, "--branch", "draft")
    guide.do("memory", "diff", "draft")

    guide.say("Meanwhile the default branch moves, in the same place and in another.")
    edit = (
        '[{"op": "replace", "path": "/value/title", "value": "Ship 1.0 on Monday"},'
        ' {"op": "replace", "path": "/value/owner", "value": "grace"}]'
    )
    guide.do("memory", "patch", "note:plan", edit)

    guide.say("A merge takes both sides where it can, and asks where they clash.")
    guide.do("memory", "merge", "draft", expect=REFUSED)
    guide.do("memory", "merge", "draft", "--take", "source")
    guide.do("memory", "get", "note:plan")
    guide.do("memory", "log")


def many_writers(guide: Guide) -> None:
    """A few thousand commits at once, then every invariant."""
    guide.chapter("Many writers: queued commits share one trip to the disk")
    guide.say("5,000 increments of one counter, from five writers, none of them reading first:")
    guide.say(_count(guide.app, 5_000))
    guide.do("memory", "get", "counter:demo")
    guide.say("Then every rule of the store, checked on what is now on disk.")
    guide.do("memory", "verify")


def _count(app: App, total: int) -> str:
    import threading

    done, landed = threading.Event(), 0
    with app.open_space() as store, ProgressBar("committing") as progress:

        def completed(outcome: object) -> None:
            nonlocal landed
            assert not isinstance(outcome, Exception), outcome
            landed += 1
            if landed % 50 == 0:
                progress(landed, total)
            if landed == total:
                done.set()

        edit = {"op": "increment", "path": "/value", "by": 1}
        operation = {"op": "patch", "id": "counter:demo", "patches": [edit]}
        for n in range(total):
            commit = {"localSeq": n // 5 + 1, "operations": [operation]}
            store.submit(f"writer-{n % 5}", commit, completed)
        done.wait()
    return f"{total:,} commits acknowledged"


STOPS: list[Callable[[Guide], None]] = [index, reading, sequence, memory, many_writers]
