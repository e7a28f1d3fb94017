"""The files of a tree that mention some names, read from disk."""

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.files import disk
from holdfast.files.policy import SIZE_BYTES_MAX, unfit
from holdfast.files.secrets import masked
from holdfast.index.building.parse_budget import ParseBudget
from holdfast.index.facts import extractor
from holdfast.index.facts.mentions import TOO_HARD, Mentions, find_mentions
from holdfast.index.facts.parse import lowered_limits
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import Reader
from holdfast.index.references.find import ReadFile
from holdfast.index.search.exact import find_exact
from holdfast.index.search.operators import Query
from holdfast.text import counted

FILES_MAX = 2_000
BYTES_MAX = 40_000_000
HARD_FIRST_S, HARD_ALL_S = 2.0, 6.0
"""Time limits for files that are too hard to parse; see `ParseBudget`."""


def files_with(
    root: str, reader: Reader, overlay: FreshFiles, names: frozenset[str], ours: set[str]
) -> tuple[set[str], bool]:
    """The files that may mention one of the names, and whether the list is complete."""
    words = "|".join(re.escape(name) for name in sorted(names))
    query = Query(patterns=(rf"\b(?:{words})\b",))
    matches = find_exact(query, root, reader, overlay, lambda path: path in ours)
    return {hit.chunk.path for hit in matches.hits}, matches.complete


def unreadable_parts(overlay: FreshFiles) -> list[str]:
    """What a check of the tree could not read: it may mention any name."""
    count = overlay.unreadable
    return [f"{counted(count, 'unreadable part')} of the tree"] if count else []


def read_files(
    root: str, paths: list[str], names: frozenset[str]
) -> tuple[list[ReadFile], list[str]]:
    """The files with their mentions, and those that were not read."""
    files: list[ReadFile] = []
    unread: list[str] = []
    size, budget = 0, ParseBudget(HARD_FIRST_S, HARD_ALL_S)
    for path in paths:
        if len(files) >= FILES_MAX or size > BYTES_MAX:
            unread.append(path)
            continue
        try:
            source, _ = disk.read_file(root, path)
        except OSError:
            unread.append(path)
            continue
        if len(source) > SIZE_BYTES_MAX or unfit(source) is not None:
            unread.append(path)
            continue
        allowance = budget.allowance()
        if not allowance.parses(path, len(source)):
            unread.append(path)
            continue
        source = masked(source)
        size += len(source)
        with lowered_limits(allowance.share):
            mentions = mentions_of(path, source, names)
        if mentions.why == TOO_HARD:
            budget.charge(path, len(source))
        files.append(ReadFile(path, source, mentions))
    return files, unread


def mentions_of(path: str, source: bytes, names: Iterable[str]) -> Mentions:
    """The mentions of names in one text."""
    if extractor.is_used():
        return extractor.extractor.mentions(path, source, names)
    return find_mentions(path, source, names)
