"""The one place that knows everyone: opens what a command, a tool or a page needs, and closes it.

Where things are kept follows from two settings. `HOLDFAST_HOME` (default `~/.holdfast`) is the
directory for everything local; `HOLDFAST_DATABASE_URL`, if set, moves the store to PostgreSQL.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.store.settings import Settings
    from holdfast.store.store import Store

DEFAULT_SPACE = "local"
"""The space of a person who never named one."""


def _fresh_name() -> str:
    return secrets.token_hex(4)


@dataclass(frozen=True, slots=True)
class App:
    """What the surfaces are handed: where things are, and where names come from."""

    home: Path
    database_url: str | None = None
    fresh_name: Callable[[], str] = field(default=_fresh_name)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> App:
        """The app as the user configured it."""
        env = os.environ if environment is None else environment
        home = env.get("HOLDFAST_HOME")
        return cls(
            home=Path(home).expanduser() if home else Path.home() / ".holdfast",
            database_url=env.get("HOLDFAST_DATABASE_URL") or None,
        )

    @property
    def store_url(self) -> str | Path:
        """Where spaces are kept. Of a home always a path, even if its name looks like a URL."""
        return self.database_url or self.home / "spaces"

    def open_space(self, space: str = DEFAULT_SPACE, settings: Settings | None = None) -> Store:
        """Open one space; the caller closes it."""
        from holdfast.store.store import open_store

        if self.database_url is None:
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open_store(self.store_url, space, settings)

    def session(self, surface: str) -> str:
        """A session id for one use of a surface."""
        return f"{surface}-{self.fresh_name()}"
