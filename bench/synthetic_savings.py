"""How many tokens generated sessions save: `python -m bench.synthetic_savings`.

Sessions as agents make them, generated from a seed: look around, read, edit, read again to check,
follow ranges, compact, go back and try another way. Each read is answered plainly and by a reader
of ours, and priced a third time by a bound that no honest answer can beat: one marker, and every
asked line whose text stands nowhere in the context window. What lies between plain and bound is
what could be saved at all; our share of it is the figure. Real sessions repeat far less: for those
see `bench.savings`.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.arguments import takes_none
from holdfast.reading import baseline
from holdfast.reading.hosts.native import NativeSession
from holdfast.reading.objects import Objects
from holdfast.reading.paths import Place, Request
from holdfast.reading.reader import Reader


class MemoryLog:
    """A log in memory."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._entries: list[Mapping[str, Any]] = []
        self._seen = 0

    @property
    def session(self) -> str:
        return self._session

    def append(self, entry: Mapping[str, Any]) -> None:
        self._entries.append(entry)

    def entries(self) -> Iterable[Mapping[str, Any]]:
        return iter(self._entries)

    def grown(self) -> tuple[bool, Iterable[Mapping[str, Any] | None]]:
        fresh, self._seen = self._entries[self._seen :], len(self._entries)
        return False, fresh


OUT = Path(__file__).parent / "out"
SESSIONS = 12
TURNS = 120
MARKER_TOKENS = 8


def tokens(text: str) -> int:
    return (len(text.encode()) + 3) // 4


class Window:
    """The lines that stand in the context, by file."""

    def __init__(self) -> None:
        self.rows: dict[str, set[str]] = {}

    def copy(self) -> Window:
        other = Window()
        other.rows = {name: set(rows) for name, rows in self.rows.items()}
        return other

    def least(self, name: str, rows: list[str], plain: int) -> int:
        """A bound from below on telling a reader of this window these lines."""
        known = self.rows.get(name, set())
        unseen = "\n".join(row for row in rows if row not in known)
        return min(plain, MARKER_TOKENS + tokens(unseen))

    def show(self, name: str, rows: list[str]) -> None:
        self.rows.setdefault(name, set()).update(rows)


class Project:
    """Source files that an agent edits."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        self.root, self.rng = root, rng
        self.names = [f"src/module_{n}.py" for n in range(14)]
        (root / "src").mkdir()
        for name in self.names:
            size = rng.choice([40, 80, 150, 300, 600, 2600])
            rows = [
                f"    value_{n} = compute({rng.randrange(99)})  # step {n}" for n in range(size)
            ]
            (root / name).write_text("\n".join(rows) + "\n")

    def edit(self, name: str) -> None:
        rows = (self.root / name).read_text().split("\n")
        for _ in range(self.rng.choice([1, 1, 2, 4])):
            at = self.rng.randrange(len(rows))
            rows[at : at + self.rng.choice([0, 1, 1])] = [f"    edited = {self.rng.random()}"]
        (self.root / name).write_text("\n".join(rows))


class Session:
    """One agent at work, answered three ways at once."""

    def __init__(self, root: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.project = Project(root, self.rng)
        self.count = 0
        self.log = NativeSession(MemoryLog(str(seed)), now_ms=lambda: 1, new_id=self._id)
        self.reader = Reader(
            Place(str(root), str(root)),
            Objects(root / "store"),
            now_ms=lambda: 1,
            monotonic=lambda: 0.0,
        )
        self.window = Window()
        self.places: list[tuple[str | None, Window]] = []
        self.totals = {"plain": 0, "ours": 0, "least": 0, "reads": 0}
        self.modes: dict[str, int] = {}
        self.focus = self.rng.sample(self.project.names, 4)

    def _id(self) -> str:
        self.count += 1
        return f"{self.count:08x}"

    def turn(self) -> None:
        what = self.rng.random()
        if what < 0.10:
            self.project.edit(self.rng.choice(self.focus))
            self.log.say("assistant", "edited")
        elif what < 0.14:
            self.focus = self.rng.sample(self.project.names, 4)
        elif what < 0.155:
            self.log.compact("…")
            self.window = Window()
        elif what < 0.175 and self.places:
            place, self.window = self.rng.choice(self.places[-6:])
            self.window = self.window.copy()
            self.log.move(place)
        elif what < 0.25:
            self.log.say("user", "go on")
            self.places.append((self.log.leaf, self.window.copy()))
        else:
            self.read(self.rng.choice(self.focus))
            if self.rng.random() < 0.3:
                name = self.rng.choice(self.focus)
                self.project.edit(name)
                self.read(name)

    def read(self, name: str) -> None:
        text = (self.project.root / name).read_text()
        total = text.count("\n") + 1
        request = Request(name)
        if self.rng.random() < 0.4:
            first = self.rng.randrange(0, total, 40) + 1
            request = Request(name, offset=first, limit=self.rng.choice([40, 80, 120]))
        plain = baseline.render(text, name, request.offset, request.limit)
        answer = self.reader.read(request, self.log)
        self.log.append_read(answer)
        self.modes[str(answer.mode)] = self.modes.get(str(answer.mode), 0) + 1
        cost = tokens(plain.text)
        self.totals["reads"] += 1
        self.totals["plain"] += cost
        self.totals["ours"] += tokens(answer.text)
        if plain.printed is None:
            self.totals["least"] += cost
            return
        rows = text.split("\n")[plain.printed.first - 1 : plain.printed.last]
        self.totals["least"] += self.window.least(name, rows, cost)
        self.window.show(name, rows)


def main() -> None:
    rows: list[dict[str, Any]] = []
    for seed in range(SESSIONS):
        with tempfile.TemporaryDirectory() as name:
            session = Session(Path(name), seed)
            for _ in range(TURNS):
                session.turn()
        rows.append({"seed": seed, **session.totals, "modes": session.modes})
    total = {key: sum(row[key] for row in rows) for key in ("plain", "ours", "least", "reads")}
    saved, saveable = total["plain"] - total["ours"], total["plain"] - total["least"]
    summary = {
        **total,
        "saved_share": saved / total["plain"],
        "share_of_saveable": saved / saveable,
    }
    OUT.mkdir(exist_ok=True)
    (OUT / "synthetic_savings.json").write_text(
        json.dumps({"sessions": rows, "summary": summary}, indent=1)
    )
    names = ("session", "reads", "plain", "ours", "bound", "saved", "share")
    print("".join(f"{name:>10}" for name in names))
    for row in [*rows, {"seed": "all", **total}]:
        could = row["plain"] - row["least"]
        did = row["plain"] - row["ours"]
        cells = (row["seed"], row["reads"], row["plain"], row["ours"], row["least"])
        print("".join(f"{cell!s:>10}" for cell in cells), end="")
        print(f"{did / row['plain']:>10.0%}{did / max(1, could):>10.0%}")
    print("tokens at four bytes; share: of what could be saved at all")


if __name__ == "__main__":
    takes_none("synthetic_savings", __doc__)
    main()
