"""The shape of a note, and its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.errors import UsageError
from holdfast.links import CodeLink

if TYPE_CHECKING:
    from holdfast.notes.code import LinkedCode
    from holdfast.store.author import Author
    from holdfast.store.model import Applied, CommitKey
    from holdfast.store.store import Store

NOTE_FORMAT = 1
"""The value of a note.

1: text; tags and links (each `{"code": …}`) if there are any
"""

PREFIX = "note:"
SLUG_WORDS, SLUG_CHARACTERS = 6, 48
_WORD = re.compile(r"[\w-]+")
_PLACE = re.compile(r"(?P<path>[^:]+)(?::(?P<symbol>.+))?\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Noted:
    """A note that was committed."""

    id: str
    applied: Applied

    def to_wire(self) -> dict[str, Any]:
        return {"id": self.id, **self.applied.to_wire()}

    def __str__(self) -> str:
        return f"noted as {self.id} at seq {self.applied.seq}"


def code_place(text: str) -> tuple[str, str | None]:
    """The path and the symbol of `path`, or of `path:symbol`."""
    match = _PLACE.match(text.strip())
    if match is None:
        raise UsageError(f"expected PATH or PATH:SYMBOL (got {text!r})")
    return match["path"], match["symbol"]


def note_value(
    text: str, links: Sequence[Mapping[str, Any]] = (), tags: Sequence[str] = ()
) -> dict[str, Any]:
    value: dict[str, Any] = {"text": text}
    if tags:
        value["tags"] = list(tags)
    if links:
        value["links"] = [dict(link) for link in links]
    return value


def unlinked(places: Sequence[str]) -> list[dict[str, Any]]:
    """Links to the code at `path` or `path:symbol`, still without digests."""
    return [CodeLink(*code_place(place)).to_wire() for place in places]


def slug(text: str) -> str:
    """A name made of the first words of a text."""
    words = [word.strip("-_").lower() for word in _WORD.findall(text)]
    name = "-".join([word for word in words if word][:SLUG_WORDS])[:SLUG_CHARACTERS].strip("-")
    return PREFIX + (name or "untitled")


def commit_note(
    store: Store,
    by: CommitKey,
    value: Mapping[str, Any],
    id: str = "",
    branch: str = "",
    author: Author | None = None,
    new_id: Callable[[], str] = str,
) -> Noted:
    """Write a note. Without an id, one is made from its words; a given id may be overwritten."""
    from holdfast.store.memory import verbs

    name = id
    if not name:
        base = name = slug(str(value.get("text", "")))
        while store.read(name, branch) is not None:
            name = f"{base}-{new_id()[:6]}"
    document: Mapping[str, Any] = {"value": dict(value)}
    # A generated id must still be unused when the commit lands.
    reads = [] if id else [(name, 0)]
    operation = {"op": "set", "id": name, "value": document}
    return Noted(name, verbs.commit(store, by, [operation], reads, branch, author))


def text_in(document: Any, depth: int = 0) -> str:
    """Every text of a document, in order; this is what a search for words reads."""
    if isinstance(document, str):
        return document
    if depth > 100:
        return ""
    if isinstance(document, Mapping):
        return " ".join(
            filter(
                None,
                (
                    text_in(one, depth + 1)
                    for name, one in document.items()
                    if name not in _LEFT_OUT
                ),
            )
        )
    if isinstance(document, list | tuple):
        return " ".join(filter(None, (text_in(one, depth + 1) for one in document)))
    return ""


_LEFT_OUT = frozenset({"sha256", "root"})


def first_words(document: Any, width: int) -> str:
    """The beginning of the text of a note, on one line, cut to a width."""
    value = document.get("value", document) if isinstance(document, Mapping) else document
    if isinstance(value, Mapping):
        title = next(
            (value[n] for n in ("text", "title", "summary") if isinstance(value.get(n), str)), None
        )
        value = text_in(value) if title is None else title
    text = " ".join(text_in(value).split())
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def tags_of(document: Any) -> tuple[str, ...]:
    value = document.get("value") if isinstance(document, Mapping) else None
    tags = value.get("tags") if isinstance(value, Mapping) else None
    if not isinstance(tags, list | tuple):
        return ()
    return tuple(tag for tag in tags if isinstance(tag, str))


def with_links(operation: Mapping[str, Any], code: LinkedCode) -> tuple[dict[str, Any], list[str]]:
    """An operation with the digests of the code it links to, and warnings about near misses."""
    from holdfast.links import near_misses

    done = dict(operation)
    warnings: list[str] = []
    if operation["op"] == "set":
        document = operation["value"]
        done["value"] = code.with_digests(document)
        warnings += near_misses(document)
        value = document.get("value") if isinstance(document, Mapping) else None
        if isinstance(value, Mapping) and value.keys() == {"value"}:
            warnings.append(
                "the value has only a member value, so its content is at /value/value; "
                "the document itself is wrapped already"
            )
    elif operation["op"] == "patch":
        done["patches"] = code.with_digests(operation["patches"])
        for patch in operation["patches"]:
            if isinstance(patch, Mapping):
                at = patch.get("path")
                warnings += near_misses(patch.get("value"), at if isinstance(at, str) else "")
    return done, warnings
