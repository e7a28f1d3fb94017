"""The stored lookup terms of a file: hashes of its terms, and pairs of names.

A term (`link_terms`) is a role, the language family and a name. Only its hash is stored. If two
terms have the same hash, a file seems to have both. The file's facts are always checked before an
answer uses them, so a collision costs time but never gives a wrong answer.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from sys import byteorder
from zlib import crc32

import msgspec

from holdfast.index.calls import link_terms as role
from holdfast.index.calls.link_names import packages_of, passing_of
from holdfast.index.calls.link_terms import ANY_DEFAULT, code_of, key_of
from holdfast.index.calls.links import MEMBERS_APART, FileLinks
from holdfast.index.facts.model import MODULE, FileFacts, file_id, has_content, without_guesses

LINKS_VERSION = 4
"""The version of the terms and of the segment layout; data of another version is rebuilt.

1: terms by hash, pairs of names by code, modules of manifests.
2: a parameter that has the name of its function.
3: attributes that are assigned to a function; fields of data classes.
4: no fields of data classes with more than 24 of them.
"""


class FileTerms(msgspec.Struct, array_like=True, gc=False):
    """The terms of one file: hashes of eight bytes, and pairs of codes of names."""

    version: int
    family: int
    """A number for the language family, for the pairs."""
    terms: bytes
    pairs: bytes
    module: str = ""
    """The module that the file is the manifest of."""


_decoder = msgspec.msgpack.Decoder(FileTerms)
_encode = msgspec.msgpack.Encoder().encode


def text_of(kind: str, family: str, name: str) -> str:
    """A term as it is hashed."""
    return f"{kind}{family} {name}"


def hash_of(text: str) -> int:
    """The lookup hash of a term."""
    return int.from_bytes(_digest(text), "little")


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def family_number(family: str) -> int:
    return crc32(family.encode())


def packed_terms(facts: FileFacts) -> bytes:
    """The lookup terms of a file, as they are stored."""
    links = FileLinks(facts)
    facts = without_guesses(facts) if links.family else facts
    texts = _texts(facts, links.family)
    codes = array("Q")
    if links.family:
        leads, held = links.pairs()
        texts += _call_texts(links, held)
        for name, others in leads.items():
            code = _code_of_name(name)
            for other in others:
                codes.append(code)
                codes.append(_code_of_name(other))
    if byteorder == "big":
        codes.byteswap()
    digest = blake2b
    hashes = b"".join([
        digest(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for text in dict.fromkeys(texts)
    ])  # fmt: skip
    number = family_number(links.family)
    return _encode(FileTerms(LINKS_VERSION, number, hashes, codes.tobytes(), module_of(facts)))


@lru_cache(maxsize=65_536)
def _code_of_name(name: str) -> int:
    code = code_of(key_of(name))
    assert code is not None, "the key of a name fits"
    return code


def unpacked_terms(data: bytes) -> FileTerms | None:
    """The terms of a file; None if they are of another version or cannot be decoded."""
    try:
        found = _decoder.decode(data)
    except msgspec.DecodeError:
        return None
    good = not len(found.terms) % 8 and not len(found.pairs) % 16
    return found if found.version == LINKS_VERSION and good else None


def module_of(facts: FileFacts) -> str:
    """The module whose manifest the file is, or an empty string."""
    return facts.module if facts.language in ("gomod", "json") else ""


def call_terms(links: FileLinks) -> tuple[set[str], set[tuple[str, str]]]:
    """The terms by which callers are found, and the pairs of keys of names."""
    if not links.family:
        return set(), set()
    leads, held = links.pairs()
    pairs = {(key_of(name), key_of(other)) for name, others in leads.items() for other in others}
    return set(_call_texts(links, held)), pairs


def _texts(facts: FileFacts, family: str) -> list[str]:
    found = [f"{role.IDENTITY} {file_id(facts.path)}"]
    if has_content(facts, family):
        found.append(text_of(role.CONTENT, "", ""))
    if not family:
        return found
    found.append(text_of(role.FAMILY, family, ""))
    found += _of_symbols(facts, family)
    for child in facts.inherits:
        found.append(text_of(role.BELOW, family, child.base.rpartition(".")[2]))
    for package in packages_of(facts, family):
        found.append(text_of(role.PACKAGE, family, package))
    for item in facts.imports:
        if item.name == "default":
            last = item.module.rpartition("/")[2].partition(".")[0]
            found.append(text_of(role.ALIAS, family, f"default*{last}"))
            found.append(text_of(role.ALIAS, family, ANY_DEFAULT))
        elif item.name and item.alias not in ("", item.name):
            found.append(text_of(role.ALIAS, family, item.name))
    found += [f"{role.PASSES}{family} {name}" for name, _ in passing_of(facts)]
    return found


def _call_texts(links: FileLinks, texts: Iterable[str]) -> list[str]:
    family = links.family
    found = [f"{role.CALLS}{family} {key_of(name)}" for name in links.by_name]
    found += [f"{role.HELD}{family} {key_of(name)}" for name in texts]
    if next(links.indirect(), None) is not None:
        found.append(text_of(role.INDIRECT, family, ""))
    return found


def _of_symbols(facts: FileFacts, family: str) -> list[str]:
    prefix = f"{facts.module}." if facts.module else ""
    apart = family in MEMBERS_APART
    found: list[str] = []
    for symbol in facts.symbols:
        name, qualified = symbol.name, symbol.qualified
        found += (
            f"{role.IDENTITY} {symbol.id}",
            f"{role.DEFINES}{family} {prefix}{qualified}",
            f"{role.NAMED}{family} {name}",
        )
        if symbol.parent != MODULE:
            found.append(f"{role.INNER}{family} {name}")
        elif apart and "." in qualified:
            found.append(f"{role.APART}{family} {owner_of(qualified)}.{name}")
        if symbol.kind == "method" and symbol.defined:
            found.append(f"{role.METHOD}{family} {name}")
        elif symbol.kind == "macro" and family == "rust":
            found.append(f"{role.MACRO}{family} {name}")
    if apart and facts.inherits:
        known = {symbol.qualified for symbol in facts.symbols}
        for item in facts.inherits:
            if item.child not in known:
                found.append(f"{role.BASES}{family} {item.child.rpartition('.')[2]}")
    return found


def owner_of(qualified: str) -> str:
    """The last part of the class name that a member's qualified name begins with."""
    return qualified.rpartition(".")[0].rpartition(".")[2]
