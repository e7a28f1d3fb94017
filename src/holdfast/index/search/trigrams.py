"""Which chunks can contain a string: a Bloom filter of the trigrams of each chunk.

A trigram is three consecutive bytes, in lower case. Each sets one of 1,024 bits of its chunk, so a
chunk costs 128 bytes whatever its length. A chunk that contains a string has the bits of all its
trigrams; a chunk with these bits probably contains it, and its text is examined. There are no false
negatives, and false positives are filtered by the text.

The signatures of a file record whether its chunks cover it: chunks leave out text without words,
and split long lines. A file that is not covered is always examined as a whole.
"""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from holdfast.index.search.regex import AllOf, AnyOf, Literal, Need

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.facts.model import Symbol
    from holdfast.index.generations.model import ChunkId, Identity, PreparedChunk, PreparedFile

TRIGRAMS_VERSION = 1
"""The format of `Signatures`, its first byte.

1: whether the file is covered, 1,024 bits for each chunk, the names of the symbols with lines.
"""

BITS = 1024
WIDTH = BITS // 8
_SHIFT = 32 - BITS.bit_length() + 1
_MULTIPLIER = 0x9E3779B1

_FOLDED = tuple((letter.encode(), plain) for letter, plain in (
    ("\u017f", b"s"), ("\u212a", b"k"), ("\u0131", b"i"), ("\u0130", b"i"),
))  # fmt: skip
"""Letters that a case-insensitive pattern equates with an ASCII letter."""


def folded(text: str) -> bytes:
    """A text folded for its trigrams. Letter by letter, so a substring stays a substring."""
    if text.isascii():
        return text.lower().encode()
    raw = text.encode("utf-8", "surrogatepass").lower()
    for letter, plain in _FOLDED:
        raw = raw.replace(letter, plain)
    return raw


class Name(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A symbol of a file, and its lines."""

    qualified: str
    kind: str
    first_line: int
    last_line: int
    id: str


def signatures(texts: Sequence[str]) -> bytes:
    """One row of bits for each text."""
    import numpy as np

    if not texts:
        return b""
    joined = "\n".join(texts)
    if joined.isascii():
        raw = joined.lower().encode()  # all at once, because letters keep their positions
        sizes = map(len, texts)
    else:
        raws = [folded(text) for text in texts]
        raw = b"\n".join(raws)
        sizes = map(len, raws)
    places = _places(raw + b"\n\n")
    # Trigrams across the border of two texts count for the first: extra bits are harmless.
    lengths = np.fromiter(sizes, dtype=np.int64, count=len(texts)) + 1
    firsts = np.arange(len(texts), dtype=np.uint32) * np.uint32(BITS)
    places += np.repeat(firsts, lengths)[: len(places)]
    bits = np.zeros(len(texts) * BITS, dtype=np.bool_)
    bits[places.astype(np.intp)] = True  # faster: numpy widens smaller integers slowly
    return np.packbits(bits).tobytes()


def _places(raw: bytes) -> NDArray[np.uint32]:
    """The bit number of each trigram of some bytes."""
    import numpy as np

    letters = np.frombuffer(raw, dtype=np.uint8).astype(np.uint32)
    places: NDArray[np.uint32] = letters[:-2] << np.uint32(16)
    places |= letters[1:-1] << np.uint32(8)
    places |= letters[2:]
    places *= np.uint32(_MULTIPLIER)
    places >>= np.uint32(_SHIFT)
    return places


def signatures_of(chunks: Sequence[PreparedChunk], size_bytes: int) -> bytes:
    """The signatures of a file's chunks, after a header that says whether they cover it."""
    # A name counts as text of its chunk, because `must:` searches both.
    texts = [f"{chunk.text}\n{chunk.label or ''}" for chunk in chunks]
    return head(_covered(chunks, size_bytes)) + signatures(texts)


def head(covers: bool) -> bytes:
    """The header before a file's rows: the version, and whether they cover it."""
    return bytes((TRIGRAMS_VERSION, covers))


def covered(file: PreparedFile) -> bool:
    """Whether every line of the file is in one chunk, unchanged."""
    return _covered(file.chunks, file.entry.stat.size_bytes)


def _covered(chunks: Sequence[PreparedChunk], size_bytes: int) -> bool:
    size = last = 0
    for chunk in chunks:
        text = chunk.text
        if chunk.start_line <= last or "\0" in text:
            return False
        last = chunk.end_line
        size += len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return size == size_bytes


def encode_names(symbols: Iterable[Symbol]) -> bytes:
    """The names of a file's symbols, in stored form."""
    return msgspec.msgpack.encode(_names(symbols))


def _names(symbols: Iterable[Symbol]) -> list[Name]:
    return [Name(s.qualified, s.kind, s.span.first_line, s.span.last_line, s.id) for s in symbols]


def names_of(facts: bytes) -> list[Name]:
    """The symbols of a file from its facts; none if these cannot be read."""
    from holdfast.index.facts.model import decode

    try:
        symbols = decode(facts).symbols
    except (msgspec.DecodeError, msgspec.ValidationError):
        return []
    return _names(symbols)


class KeptFile(msgspec.Struct, frozen=True):
    """A file of a generation with its stored signatures and names; None if it has none.

    `stored_names` may be compressed, because most questions do not need the names.
    """

    number: int
    path: str
    language: str
    problem: str | None
    chunks: int
    signatures: bytes | None
    stored_names: bytes | None
    compressed: bool = False

    @property
    def names(self) -> bytes | None:
        """The names of the symbols, as `encode_names` made them."""
        if self.stored_names is None or not self.compressed:
            return self.stored_names
        return zlib.decompress(self.stored_names)


class TrigramReader(Protocol):
    """The part of a generation's reader that is needed here."""

    identity: Identity

    def kept_files(self) -> Iterable[KeptFile]: ...


class Trigrams:
    """The signatures of a generation in one table: row i belongs to chunk ids[i]."""

    def __init__(self, files: Iterable[KeptFile]) -> None:
        import numpy as np

        self.files: list[KeptFile] = []
        """Every file that was read as text, in the order of the rows."""
        self.not_text: dict[str, str] = {}
        """Why each of the other files was not."""
        for file in files:
            if file.problem is None:
                self.files.append(file)
            else:
                self.not_text[file.path] = file.problem
        starts, blobs, unknown = [0], [], []
        self.open: list[int] = []
        """Positions of files that their signatures do not cover."""
        for place, file in enumerate(self.files):
            kept = file.signatures
            count = file.chunks
            good = (
                kept is not None
                and kept[:1] == bytes((TRIGRAMS_VERSION,))
                and len(kept) == 2 + count * WIDTH
            )
            if good and kept is not None:
                blobs.append(kept[2:])
                if not kept[1]:
                    self.open.append(place)
            else:
                blobs.append(b"\xff" * (count * WIDTH))
                unknown.append(place)
            starts.append(starts[-1] + count)
        self.unknown = frozenset(unknown)
        """Positions of files without signatures, indexed by an older version."""
        self.open.extend(unknown)
        self.open.sort()
        self.open_places = frozenset(self.open)
        self.starts: NDArray[np.int64] = np.array(starts, dtype=np.int64)
        self.rows = np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(-1, WIDTH)
        self._names: dict[int, list[Name]] = {}
        self._raw_names: dict[int, bytes | None] = {}
        self._counts: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def maybe(self, need: Need) -> NDArray[np.bool_]:
        """For each row, whether its chunk can match."""
        import numpy as np

        chosen = self._chosen(need, None)
        if chosen is None:
            return np.ones(len(self.rows), dtype=np.bool_)
        mask = np.zeros(len(self.rows), dtype=np.bool_)
        mask[chosen] = True
        return mask

    def _chosen(self, need: Need, among: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        """Which of some rows can match, in order; None stands for all rows.

        A column lies across the whole table, so what remains after the first ones is looked at in
        these rows alone.
        """
        import numpy as np

        match need:
            case Literal(text):
                for byte, bit in _bits(text):
                    if among is None:
                        among = np.flatnonzero(self.rows[:, byte] & bit)
                    else:
                        among = among[self.rows[among, byte] & bit != 0]
                return among
            case AllOf(needs):
                for part in needs:
                    among = self._chosen(part, among)
                return among
            case AnyOf(needs):
                mask = np.zeros(len(self.rows), dtype=np.bool_)
                for part in needs:
                    chosen = self._chosen(part, among)
                    if chosen is None:
                        return None
                    mask[chosen] = True
                return np.flatnonzero(mask)

    def ids(self, mask: NDArray[np.bool_]) -> list[tuple[int, list[ChunkId]]]:
        """The chunks of a mask, by the position of their file."""
        import numpy as np

        rows = np.flatnonzero(mask)
        if not len(rows):
            return []
        places = np.searchsorted(self.starts, rows, side="right") - 1
        found: dict[int, list[ChunkId]] = {}
        for row, place in zip(rows.tolist(), places.tolist(), strict=True):
            ordinal = row - int(self.starts[place])
            found.setdefault(place, []).append((self.files[place].number, ordinal))
        return list(found.items())

    def shares(self, text: str) -> NDArray[np.float64]:
        """For each row, the Jaccard similarity of its bits and a text's."""
        import numpy as np

        row = np.frombuffer(signatures([text]), dtype=np.uint8)
        if self._counts is None:
            self._counts = bits_set(self.rows)
        both = bits_set(self.rows & row)
        either = self._counts + bits_set(row[None, :]) - both
        shares: NDArray[np.float64] = both / np.maximum(either, 1)
        return shares

    def raw_names(self, place: int) -> bytes | None:
        """The symbols of a file in stored form; None if they were not stored."""
        if place not in self._raw_names:
            self._raw_names[place] = self.files[place].names
        return self._raw_names[place]

    def names(self, place: int) -> list[Name] | None:
        """The symbols of a file; None if they were not stored."""
        if place not in self._names:
            kept = self.raw_names(place)
            if kept is None or place in self.unknown:
                return None
            self._names[place] = msgspec.msgpack.decode(kept, type=list[Name])
        return self._names[place]


def bits_set(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The number of set bits in each row."""
    import numpy as np

    if hasattr(np, "bitwise_count"):
        counts = np.bitwise_count(np.ascontiguousarray(rows).view(np.uint64))
    else:
        counts = np.array([i.bit_count() for i in range(256)], dtype=np.uint8)[rows]
    total: NDArray[np.int64] = counts.sum(axis=1, dtype=np.int64)
    return total


def possible(need: Need, raw: bytes) -> bool:
    """Whether a folded text can match."""
    match need:
        case Literal(text):
            return folded(text) in raw
        case AllOf(needs):
            return all(possible(part, raw) for part in needs)
        case AnyOf(needs):
            return any(possible(part, raw) for part in needs)


def _bits(text: str) -> list[tuple[int, int]]:
    """The bytes of a row, and the bits in them, that a chunk containing this text has set."""
    raw = folded(text)
    if len(raw) < 3 or b"\n" in raw:
        return []
    places = set(_places(raw).tolist())
    return sorted((place // 8, 0x80 >> (place % 8)) for place in places)


TABLES_MAX = 4
_tables: OrderedDict[Identity, Trigrams] = OrderedDict()
_lock = threading.Lock()


def table_of(reader: TrigramReader) -> Trigrams:
    """The table of a generation, cached; generations never change and have unique identities."""
    with _lock:
        known = _tables.get(reader.identity)
        if known is not None:
            _tables.move_to_end(reader.identity)
            return known
    made = Trigrams(reader.kept_files())
    with _lock:
        _tables[reader.identity] = made
        while len(_tables) > TABLES_MAX:
            _tables.popitem(last=False)
    return made
