"""The observed state of a home: codebases, sessions, savings, spaces, health.

Each observer reads ground state with the same functions as the commands and returns plain values.
Nothing here writes, and everything kept in memory can be read again from the logs.
"""

from __future__ import annotations

from typing import Any

Values = dict[str, Any]
