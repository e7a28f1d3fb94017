"""Parse arguments: JSON, from the command line, standard input or a file."""

from __future__ import annotations

import argparse
import json
import math
import sys
from datetime import UTC, datetime
from typing import Any

from holdfast.cli.user_files import read_user_file
from holdfast.errors import UsageError


def json_argument(text: str) -> Any:
    """A JSON argument, from the command line, standard input (-) or a file (@FILE)."""
    return _parsed(*_read(text))


def json_or_text(text: str) -> Any:
    """A value: JSON, or plain text that cannot be mistaken for JSON."""
    text, where = _read(text)
    if not text or not text[0].isalpha():
        return _parsed(text, where)
    try:
        return json.loads(text)
    except ValueError:
        return text.removesuffix("\n")


def _read(text: str) -> tuple[str, str]:
    """The text that an argument means, and where it is from."""
    if text == "-":
        return sys.stdin.read(), "standard input"
    if not text.startswith("@"):
        return text, "the argument"
    where = text[1:]
    try:
        return read_user_file(where).decode("utf-8"), where
    except UnicodeDecodeError:
        raise UsageError(f"{where} is not UTF-8 text", "a value must be JSON in UTF-8") from None


def _parsed(text: str, where: str) -> object:
    try:
        value: object = json.loads(text)
        return value
    except RecursionError:
        raise UsageError(f"{where} is nested too deeply") from None
    except ValueError as error:
        raise UsageError(
            f"{where} is not JSON: {error}",
            hint="""quote strings for the shell too, e.g. '"text"'""",
        ) from None


def seq_or_date(text: str) -> int | str:
    """A seq, or a date in the format in which the store keeps times."""
    if text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"--before must be a seq or a date (got {text!r})",
            "a date is 2026-01-31, or 2026-01-31T12:00:00 in UTC",
        ) from None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return f"{moment.year:04d}{moment.strftime('-%m-%dT%H:%M:%S.000Z')}"


def seconds(text: str) -> float:
    """A duration, for an option."""
    try:
        length = float(text)
    except ValueError:
        length = -1.0
    if length < 0 or not math.isfinite(length):
        raise argparse.ArgumentTypeError(f"must be a number of seconds, 0 or more (got {text!r})")
    return length
