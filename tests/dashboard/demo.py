"""A home filled with a small, believable project: for a tour, for screenshots, for tests.

Everything is made with the verbs that agents use: files are indexed, read in sessions that compact
and branch, and spoken about in memory on branches that clash. Nothing is drawn from thin air, so
the pages show what they would show of real work.
"""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast import links
from holdfast.app import App
from holdfast.ids import LocalSeq, SessionId
from holdfast.index.code_index import run_here
from holdfast.index.tools.manage import manage_index
from holdfast.reading.hosts.native import NativeSession
from holdfast.reading.paths import Request
from holdfast.reading.reader import Reader
from holdfast.sessions import open_log
from holdfast.store.model import CommitKey
from holdfast.store.store import Store
from holdfast.system import Clock

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS

MAIN, DRAFT = "", "agent/pricing"


@dataclass(frozen=True, slots=True)
class Demo:
    """Where the demo lives."""

    home: Path
    project: Path


@dataclass(slots=True)
class _Clock(Clock):
    """Time as the story has it: the last days, up to now."""

    at_ms: int
    rng: random.Random = field(default_factory=lambda: random.Random(7))

    def now_ms(self) -> int:
        return self.at_ms

    def pass_by(self, least_min: int, most_min: int) -> None:
        self.at_ms += self.rng.randint(least_min * MINUTE_MS, most_min * MINUTE_MS)


def fill(home: Path, directory: Path, now_ms: int | None = None, *, days: int = 9) -> Demo:
    """Make the project below `directory` and a home that knows it."""
    project = directory / "tidewater"
    write_project(project)
    app = App(home)
    now = app.clock.now_ms() if now_ms is None else now_ms
    index = app.open_index()
    index.start = run_here
    try:
        manage_index(index, "create", str(project))
        forgotten = directory / "harbor-scripts"
        _write(forgotten / "sweep.py", "def sweep(pier):\n    return [b for b in pier if b.idle]\n")
        manage_index(index, "create", str(forgotten))
    finally:
        index.close()
    # Its tables are lost, as after a cleaned cache: the registry says indexed, nothing proves it.
    from holdfast.index.generations.leases import root_key

    for file in (home / "index" / "roots").glob(f"{root_key(str(forgotten.resolve()))}*"):
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    _memory(app, project)
    _sessions(app, project, now, days)
    return Demo(home, project)


def write_project(project: Path) -> None:
    """The files of the project; each is kept beside this module as text."""
    story = Path(__file__).parent / "demo_files"
    for source in story.iterdir():
        name = source.name.removesuffix(".txt").replace("--", "/")
        _write(project / name, source.read_text(encoding="utf-8"))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# memory


class _Writer:
    """Commits of one session, in order."""

    def __init__(self, store: Store, session: str) -> None:
        self._store, self._session = store, session
        self._next = int(store.next_local_seq(session))

    def _key(self) -> CommitKey:
        self._next += 1
        return CommitKey(SessionId(self._session), LocalSeq(self._next - 1))

    def commit(self, *operations: dict[str, Any], branch: str = MAIN) -> None:
        commit = {"localSeq": self._key().local_seq, "branch": branch, "operations": [*operations]}
        self._store.transact(self._session, commit)

    def branch(self, name: str, parent: str = MAIN) -> None:
        self._store.create_branch(name, parent, None, self._key())


def _set(id: str, value: Any) -> dict[str, Any]:
    return {"op": "set", "id": id, "value": {"value": value}}


def _edit(id: str, *patches: dict[str, Any]) -> dict[str, Any]:
    return {"op": "patch", "id": id, "patches": [*patches]}


def _put(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": f"/value/{path}", "value": value}


def _memory(app: App, project: Path) -> None:
    root = str(project.resolve())

    def code(path: str, symbol: str | None = None) -> dict[str, Any]:
        return links.link_to(path, (project / path).read_bytes(), symbol, root).to_wire()

    with app.open_space() as store:
        ada, agent = _Writer(store, "ada"), _Writer(store, "agent-refactor")
        ada.commit(
            _set(
                "note:plan",
                {
                    "title": "Prices that survive the summer sale",
                    "owner": "ada",
                    "due": "Friday",
                    "steps": [
                        "find every place that rounds",
                        "one function rounds",
                        "remove the rest",
                    ],
                    "done": 0,
                },
            )
        )
        ada.commit(
            _set(
                "finding:rounding",
                {
                    "title": "Rounding happens twice",
                    "text": "price_of rounds each line, and Cart.total rounds the sum again.",
                    "seen": [code("app/pricing.py", "price_of"), code("app/cart.py", "Cart.total")],
                },
            )
        )
        ada.commit(
            _set(
                "decision:discounts",
                {
                    "title": "Discounts add up to 40 % at most",
                    "limit": 0.3,
                    "because": "margins on rope and tar are thin",
                    "where": code("app/pricing.py", "discount_for"),
                },
            )
        )
        ada.commit(_edit("decision:discounts", _put("limit", 0.4)))
        ada.commit(
            _set(
                "glossary:reservation",
                {
                    "title": "Reservation",
                    "text": "stock set aside for a cart; it lapses after twenty minutes.",
                    "where": code("app/stock.py", "Stock.reserve"),
                },
            )
        )
        agent.branch(DRAFT)
        agent.commit(
            _edit(
                "note:plan",
                _put("title", "One place that rounds prices"),
                _put("done", 1),
                {"op": "append", "path": "/value/steps", "values": ["property test: sum of parts"]},
            ),
            branch=DRAFT,
        )
        agent.commit(_edit("decision:discounts", _put("limit", 0.35)), branch=DRAFT)
        agent.commit(
            _set(
                "finding:currency",
                {
                    "title": "Mail formats money on its own",
                    "text": "app/mail.py has a second money formatter that ignores the currency.",
                    "seen": [code("app/mail.py", "receipt")],
                },
            ),
            branch=DRAFT,
        )
        ada.commit(
            _edit(
                "note:plan",
                _put("title", "Round prices once, at the till"),
                _put("due", "Thursday"),
            )
        )
        ada.commit(_edit("decision:discounts", _put("limit", 0.45)))
        agent.branch("agent/stock-audit")
        agent.commit(
            _set(
                "finding:lapsed",
                {
                    "title": "Lapsed reservations are never freed",
                    "text": "nothing calls Stock.release_lapsed outside the tests.",
                    "seen": [code("app/stock.py", "Stock.release_lapsed")],
                },
            ),
            branch="agent/stock-audit",
        )
        ada.commit(_set("note:standup", {"title": "Standup", "text": "draft, to be thrown away"}))
        ada.commit({"op": "delete", "id": "note:standup"})


# sessions


def _sessions(app: App, project: Path, now_ms: int, days: int) -> None:
    clock = _Clock(now_ms - days * DAY_MS)
    numbers = iter(range(1_000_000))
    reader = App(app.home, clock=clock).reader(str(project.resolve()), str(project.resolve()))

    def session(name: str) -> NativeSession:
        log = open_log(app.open_space, name, app.new_id)
        return NativeSession(log, now_ms=clock.now_ms, new_id=lambda: f"e{next(numbers):04x}")

    files = sorted(str(path.relative_to(project)) for path in project.rglob("*.py"))
    _long_ago(session("audit-stock"), reader, clock, files, project, days)
    clock.at_ms = now_ms - 150 * MINUTE_MS
    _today(session("refactor-pricing"), reader, clock, project)


def _read(session: NativeSession, reader: Reader, clock: _Clock, path: str) -> str:
    clock.pass_by(1, 3)
    return session.append_read(reader.read(Request(path), session))


def _long_ago(
    session: NativeSession,
    reader: Reader,
    clock: _Clock,
    files: list[str],
    project: Path,
    days: int,
) -> None:
    """Days of work: the same files again and again, small edits, a compaction each day or two."""
    session.say("user", "Find out why stock counts drift after a busy weekend.")
    for day in range(days):
        start = clock.at_ms
        for _ in range(clock.rng.randint(9, 22)):
            path = clock.rng.choice(files[: 4 + day])
            if clock.rng.random() < 0.15:
                _touch(project / path, f"# looked at on day {day + 1}\n")
            _read(session, reader, clock, path)
        session.say("assistant", f"Day {day + 1}: looked at {4 + day} files.")
        if day % 2 == 1:
            session.compact(f"Day {day + 1}: counts drift when a reservation lapses twice.")
        clock.at_ms = start + DAY_MS - clock.rng.randint(0, 90) * MINUTE_MS
    for path in files:
        _untouch(project / path)


def _today(session: NativeSession, reader: Reader, clock: _Clock, project: Path) -> None:
    """One morning: reads, a compaction, a branch that was given up, and files that move on."""

    def read(*paths: str) -> str:
        return [_read(session, reader, clock, path) for path in paths][-1]

    session.say("user", "Make prices round in one place. Start with pricing and the cart.")
    read("app/pricing.py", "app/cart.py", "app/orders.py", "app/mail.py", "app/pricing.py")
    session.say("assistant", "price_of rounds per line and Cart.total rounds again.")
    read("app/cart.py", "app/api.py:1-40", "app/pricing.py")
    session.compact("Rounding happens in price_of and in Cart.total; keep the second.")
    clock.pass_by(2, 6)
    fork = read("app/pricing.py", "app/cart.py")
    session.say("assistant", "First try: round in Order.place instead.")
    read("app/orders.py", "app/stock.py")
    session.move(fork)
    session.say("user", "No, keep it in the cart; look at money.py first.")
    read("app/money.py", "app/cart.py", "app/pricing.py", "app/orders.py:1-30", "app/cart.py")
    pricing = project / "app" / "pricing.py"
    text = pricing.read_text(encoding="utf-8")
    text = text.replace("round_money(gross * (1 - discount))", "gross * (1 - discount)")
    text = text.replace("one line of a cart costs.", "one line of a cart costs, unrounded.")
    pricing.write_text(text, encoding="utf-8")
    _write(project / "app" / "sale.py", 'SUMMER = {"rope": 0.2, "tar": 0.1}\n')


def _touch(path: Path, line: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + line, encoding="utf-8")


def _untouch(path: Path) -> None:
    text = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in text if not line.startswith("# looked at on day")]
    path.write_text("".join(kept), encoding="utf-8")


def main() -> int:
    """Fill a directory, and say how to look at it."""
    import sys

    if len(sys.argv) != 2:
        print("usage: python -m tests.dashboard.demo DIR", file=sys.stderr)
        return 2
    made = fill(Path(sys.argv[1]).resolve() / "home", Path(sys.argv[1]).resolve())
    print(f"HOLDFAST_HOME={made.home} holdfast serve")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
