"""A working directory with a reader and a session, for tests that tell a story."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast.reading import scope as scopes
from holdfast.reading.hosts.pi_entries import STRICT, Rules
from holdfast.reading.objects import Objects
from holdfast.reading.paths import Place, Request
from holdfast.reading.reader import Reader, Settings
from holdfast.reading.result import Answer
from holdfast.reading.session_log import SessionLog
from tests.reading.pi_session import PiSession


class Desk:
    """One directory, one store, and as many sessions as a test opens."""

    def __init__(self, root: Path, settings: Settings | None = None) -> None:
        self.root = root
        self.cwd = root / "work"
        self.home = root / "home"
        self.cwd.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(exist_ok=True)
        self.settings = settings
        self.count = 0
        self.place = Place(str(self.cwd), str(self.home))
        self.objects = Objects(root / "store")
        self.reader = self.new_reader()
        self.session = self.new_session("main")

    def new_reader(self) -> Reader:
        return Reader(
            self.place,
            self.objects,
            now_ms=self.now_ms,
            monotonic=lambda: 0.0,
            settings=self.settings,
        )

    def now_ms(self) -> int:
        return 1_777_885_200_000 + self.count

    def new_id(self) -> str:
        self.count += 1
        return f"{self.count:08x}"

    def new_session(self, name: str, *, on_disk: bool = False, rules: Rules = STRICT) -> PiSession:
        path = str(self.root / f"{name}.jsonl") if on_disk else None
        return PiSession(
            name,
            str(self.cwd),
            path=path,
            now_ms=self.now_ms,
            new_id=self.new_id,
            rules=rules,
        )

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def ask(self, path: str, host: SessionLog | None = None, **request: Any) -> Answer:
        """Read without noting the result in the session."""
        return self.reader.read(Request(path, **request), host or self.session)

    def read(self, path: str, **request: Any) -> Answer:
        """Read, and note the result in the session."""
        answer = self.ask(path, **request)
        self.session.append_read(answer.content, answer.details)
        return answer

    def trust(self) -> dict[str, dict[str, str]]:
        """What the session holds: file name -> scope -> first digits of the digest."""
        holdings = self.reader.holdings(self.session)
        return {
            Path(path).name: {
                scopes.key(scope): trust.digest for scope, trust in holdings.scopes(path).items()
            }
            for path in holdings.paths()
        }


def numbered(count: int, word: str = "line") -> str:
    """`count` lines, `line 1` to `line n`, without a final newline."""
    return "\n".join(f"{word} {n}" for n in range(1, count + 1))


def reason(answer: Answer) -> str | None:
    assert answer.meta is not None, "an answer with metadata"
    return answer.meta.why.reason if answer.meta.why is not None else None
