"""Reads the texts of files in a tree, for every part that compares tokens."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from holdfast.files import disk
from holdfast.files.secrets import masked
from holdfast.files.snapshot import Stat
from holdfast.sequence.tokens.text import text_of

Progress = Callable[[str, int, int], None]


def read_texts(
    root: Path, paths: list[str], gone: list[str], unreadable: set[str], progress: Progress
) -> Iterator[tuple[str, Stat, bytes | None]]:
    """The texts of files without their secrets, None for a binary file, each with its stat.

    Adds missing files to `gone`, and files that cannot be read to both lists.
    """
    for number, path in enumerate(paths):
        if number % 200 == 0:
            progress("reading files", number, len(paths))
        try:
            data, stat = disk.read_file(os.fspath(root), path)
        except FileNotFoundError:
            gone.append(path)
            continue
        except OSError:
            gone.append(path)
            unreadable.add(path)
            continue
        yield path, stat, text_without_secrets(data)
    progress("reading files", len(paths), len(paths))


def text_without_secrets(data: bytes) -> bytes | None:
    """The text of a file with secrets masked; None if it is binary.

    Secrets are searched in the decoded text: patterns would not match the bytes of UTF-16.
    """
    text = text_of(data)
    return None if text is None else masked(text)
