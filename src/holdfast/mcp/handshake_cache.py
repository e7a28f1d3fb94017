"""The host's last answers to a connecting client: the handshake and the list of tools.

If a host must be started first, an agent that does not wait for its servers would send its first
request without our tools. So the shim keeps these two answers and sends them while the host starts.

    run/answers-<version>.json    {"v":1,"answers":{"initialize 2025-06-18":{…},"tools/list …":{…}}}

Only answers of the same version are used; a file that cannot be read is ignored. Format history
    1   first version
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import
if TYPE_CHECKING:
    from typing import Any

FORMAT_VERSION = 1
KEPT = frozenset({"initialize", "tools/list"})


class KeptAnswers:
    """The kept answers of one version, by method and protocol version."""

    def __init__(self, directory: str, version: str) -> None:
        self._path = os.path.join(directory, f"answers-{version}.json")
        self._answers: dict[str, Any] | None = None

    def get(self, method: str, protocol: str) -> Any:
        """The kept result; None if there is none."""
        return self._load().get(f"{method} {protocol}")

    def put(self, method: str, protocol: str, result: Any) -> None:
        """Keep a result. A failure to do so is ignored."""
        answers = self._load()
        key = f"{method} {protocol}"
        if answers.get(key) == result:
            return
        answers[key] = result
        part = f"{self._path}.{os.getpid()}"
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump({"v": FORMAT_VERSION, "answers": answers}, file)
            os.replace(part, self._path)
        except OSError:
            return

    def _load(self) -> dict[str, Any]:
        if self._answers is None:
            self._answers = {}
            try:
                with open(self._path, "rb") as file:
                    raw = json.load(file)
            except (OSError, ValueError):
                raw = None
            if isinstance(raw, dict) and raw.get("v") == FORMAT_VERSION:
                answers = raw.get("answers")
                self._answers = answers if isinstance(answers, dict) else {}
        return self._answers
