"""The forms in which one document points at another.

| form | meaning |
|---|---|
| `{"/": {"link@1": {id?, path?, space?, schema?, overwrite?}}}` | a link, if alone in its object |
| `{"$alias": {path, cell?, schema?}}` | the older form of a link, read like one |
| a document's `source: {"/": "<short>"}` | provenance: the document `of:<short>` of this space |
| an id `data:application/json,…` | a document written inside its own id |

An object in one of the link forms is a link even when its members are malformed. Such a link has no
target, and its content is not walked as data, so a broken link cannot contain a working one.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

import msgspec

from holdfast.ids import EntityId

INLINE = "data:"


class DocumentLink(NamedTuple):
    """The parsed members of a link; `id` and `space` are empty when not given."""

    id: str
    path: tuple[str, ...]
    space: str
    schema: object
    redirect: bool
    """Whether writes go to the target; reads follow it either way."""


NOWHERE = DocumentLink("", (), "", None, redirect=False)
"""The result of parsing a malformed link."""


def link_in(node: Mapping[str, Any]) -> DocumentLink | None:
    """The link in `node`: None when it is data, NOWHERE when it is a malformed link."""
    if len(node) != 1:
        return None
    if "/" in node:
        sigil = node["/"]
        if isinstance(sigil, dict) and "link@1" in sigil:
            return _link_1(sigil["link@1"])
    elif "$alias" in node:
        return _alias(node["$alias"])
    return None


def _link_1(body: object) -> DocumentLink:
    if not isinstance(body, dict):
        return NOWHERE
    target, space = body.get("id", ""), body.get("space", "")
    path = tokens(body.get("path", ()))
    if not isinstance(target, str) or not isinstance(space, str) or path is None:
        return NOWHERE
    return DocumentLink(
        target, path, space, body.get("schema"), body.get("overwrite") == "redirect"
    )


def _alias(body: object) -> DocumentLink | None:
    if not isinstance(body, dict) or "path" not in body:
        return None
    path, target = tokens(body["path"]), ""
    if "cell" in body:
        cell = body["cell"]
        short = cell.get("/") if isinstance(cell, dict) else None
        if not isinstance(short, str):
            return NOWHERE
        target = short if ":" in short else f"of:{short}"
    if path is None:
        return NOWHERE
    return DocumentLink(target, path, "", body.get("schema"), redirect=True)


def tokens(path: object) -> tuple[str, ...] | None:
    """A path as keys, or None when it is not one; array positions may be written as numbers."""
    if not isinstance(path, list | tuple):
        return None
    keys = []
    for token in path:
        if isinstance(token, str):
            keys.append(token)
        elif isinstance(token, int) and not isinstance(token, bool) and 0 <= token < 2**32:
            keys.append(str(token))
        else:
            return None
    return tuple(keys)


def is_index(token: str, length: int) -> bool:
    """Whether `token` is an index of an array with this length."""
    if not (token.isascii() and token.isdecimal()) or (len(token) > 1 and token[0] == "0"):
        return False
    return len(token) <= 10 and int(token) < length


def source_of(document: Mapping[str, Any]) -> EntityId | None:
    """The document that this one was derived from."""
    source = document.get("source")
    short = source.get("/") if isinstance(source, dict) and len(source) == 1 else None
    return EntityId(f"of:{short}") if isinstance(short, str) else None


def inline_document(entity: str) -> dict[str, Any] | None:
    """The document inside a `data:` id, or None when it has none."""
    head, comma, body = entity.removeprefix(INLINE).partition(",")
    media, *parameters = head.split(";")
    if not comma or media != "application/json":
        return None
    try:
        content = unquote_to_bytes(body)
        if "base64" in parameters:
            content = base64.b64decode(content, validate=True)
        document = msgspec.json.decode(content)
    except (binascii.Error, msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
