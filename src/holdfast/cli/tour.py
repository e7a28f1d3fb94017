"""`holdfast try`: a short tour that runs real commands on data of its own.

Every line after a `$` is a command you could type; what follows is what it printed. The tour works
in a directory of its own and removes it afterwards, so your own memory is not touched.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.cli import main as cli
from holdfast.cli.output import BOLD, DIM, Progress, styled

OK, REFUSED = 0, 1


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep", metavar="DIR", help="work in this directory and leave it for you to look at"
    )


def run(args: argparse.Namespace) -> int:
    guide = Guide()
    with _home(args.keep) as home:
        for stop in STOPS:
            stop(guide)
        print()
        if args.keep:
            print(f"Everything is in {home}; look with: HOLDFAST_HOME={home} holdfast memory log")
        print("That was the tour. holdfast --help lists what else there is.")
    return REFUSED if guide.surprises else OK


@contextmanager
def _home(keep: str | None) -> Iterator[Path]:
    """A home directory for the tour, and the environment that points there."""
    before = {name: os.environ.pop(name, None) for name in ("HOLDFAST_DATABASE_URL",)}
    before["HOLDFAST_HOME"] = os.environ.get("HOLDFAST_HOME")
    temporary = None if keep else tempfile.TemporaryDirectory(prefix="holdfast-try-")
    home = Path(keep) if keep else Path(temporary.name)  # type: ignore[union-attr]
    os.environ["HOLDFAST_HOME"] = str(home)
    try:
        yield home
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if temporary is not None:
            temporary.cleanup()


class Guide:
    """Says what comes next, runs it, and notices when it did not go as announced."""

    def __init__(self) -> None:
        self.surprises = 0

    def chapter(self, title: str) -> None:
        print(f"\n{styled(title, BOLD)}\n{'─' * len(title)}")

    def say(self, text: str) -> None:
        print(f"\n{styled(text, DIM)}")

    def do(self, *command: str, expect: int = OK) -> None:
        """Run a command as if it had been typed."""
        print(f"$ holdfast {shlex.join(command)}", flush=True)
        code = cli.main(command)
        sys.stdout.flush()
        if code != expect:
            self.surprises += 1
            print(f"(exit code {code}, expected {expect})", file=sys.stderr)


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

    guide.say(
        "A write can say what it stands on. Here it stands on seq 1, and somebody was faster:"
    )
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
    _count(5_000)
    guide.do("memory", "get", "counter:demo")
    guide.say("Then every rule of the store, checked on what is now on disk.")
    guide.do("memory", "verify")


def _count(total: int) -> None:
    import threading

    from holdfast.app import App

    done, landed = threading.Event(), 0
    with App.from_environment().open_space() as store, Progress("committing") as progress:

        def told(fate: object) -> None:
            nonlocal landed
            assert not isinstance(fate, Exception), fate
            landed += 1
            if landed % 50 == 0:
                progress(landed, total)
            if landed == total:
                done.set()

        edit = {"op": "increment", "path": "/value", "by": 1}
        operation = {"op": "patch", "id": "counter:demo", "patches": [edit]}
        for n in range(total):
            commit = {"localSeq": n // 5 + 1, "operations": [operation]}
            store.submit(f"writer-{n % 5}", commit, told)
        done.wait()
    print(f"{total:,} commits acknowledged")


STOPS: list[Callable[[Guide], None]] = [memory, many_writers]
