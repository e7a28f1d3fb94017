"""Bits flipped in session logs, stored texts and settings: a read is as before, plain, or refused.

The files of the store and of the index have campaigns of their own (`tests/store/bitflips.py`,
`tests/index/bitflips.py`).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from holdfast.app import App
from holdfast.errors import HoldfastError
from holdfast.reading.hosts.native import FileLog, NativeSession
from holdfast.reading.paths import Request
from holdfast.reading.reader import Reader
from tests.hostile.result import Result

LINES = [f"line {number} of some text\n" for number in range(60)]
SETTINGS = 'union = true\nrange_diffs = false\nsensitive = ["*.tfstate"]\ndiff_budget_ms = 200\n'


class ReadingWorld:
    """A session that holds an unchanged file and one that changed since."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tree = folder, folder / "tree"
        self.tree.mkdir(parents=True)
        self.environment = {"HOLDFAST_HOME": str(folder / "home"), "HOME": str(folder)}
        self.log = folder / "session.jsonl"
        for name in ("same.py", "edited.py"):
            (self.tree / name).write_text("".join(LINES))
        self._write_settings()
        FileLog.create(self.log, "s")
        session = self._session()
        for name in ("same.py", "edited.py"):
            session.record(self._reader().read(Request(str(self.tree / name)), session))
        (self.tree / "edited.py").write_text("".join([*LINES[:30], "changed\n", *LINES[31:]]))
        self.plain = {name: self._text(name, None) for name in ("same.py", "edited.py")}
        self.held = {name: self._text(name, session) for name in ("same.py", "edited.py")}
        assert all(len(self.held[name]) < len(self.plain[name]) for name in self.plain)

    def _write_settings(self) -> None:
        app = App.from_environment(self.environment)
        app.home.make()
        app.home.reading_settings.write_text(SETTINGS)

    def _reader(self) -> Reader:
        return App.from_environment(self.environment).reader(str(self.tree))

    def _session(self) -> NativeSession:
        return NativeSession(FileLog(self.log), now_ms=lambda: 0, new_id=_counter())

    def _text(self, name: str, session: NativeSession | None) -> str:
        return str(self._reader().read(Request(str(self.tree / name)), session).text)

    def files(self) -> dict[str, list[Path]]:
        """The files whose bits are flipped, by kind."""
        home = App.from_environment(self.environment).home
        objects = [path for path in Path(home.objects).rglob("*") if path.is_file()]
        assert objects
        return {
            "session log": [self.log],
            "stored text": objects,
            "settings": [home.reading_settings],
        }

    def judge(self) -> str:
        """What reading both files gives now."""
        seen = set()
        for name in self.plain:
            try:
                text = self._text(name, self._session())
            except HoldfastError:
                seen.add("refused")
                continue
            if text == self.held[name]:
                seen.add("same")
            elif text == self.plain[name]:
                seen.add("plain")
            else:
                return f"wrong: {text[:200]!r}"
        return next(each for each in ("refused", "plain", "same") if each in seen)


def _counter() -> Callable[[], str]:
    numbers = iter(range(1_000_000))
    return lambda: f"id{next(numbers)}"


def campaign(count: int, seed: int, folder: Path) -> Result:
    """Flip one to three bits so many times, each time in a file that was sound before."""
    draw, result = random.Random(seed), Result()
    world = ReadingWorld(folder)
    for _ in range(count):
        kind, files = draw.choice(sorted(world.files().items()))
        path = draw.choice(sorted(files))
        before = path.read_bytes()
        damaged = bytearray(before)
        for _bit in range(draw.choice((1, 1, 3))):
            damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:
            outcome = world.judge()
        except Exception as error:
            outcome = f"traceback: {type(error).__name__}: {error}"
        if outcome.startswith(("wrong", "traceback")):
            result.problem(f"{kind}, seed {seed}: {outcome} after {damaged[:400]!r}")
            outcome = outcome.partition(":")[0]
        result.count(f"{kind}: {outcome}")
        # A stored text that does not match its digest may have been removed, to be written anew.
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before)
    return result
