"""A byte mutator: takes valid input apart and puts it together wrongly, from one seed."""

from __future__ import annotations

import random
from collections.abc import Sequence

BYTES_MAX = 6_000

WORDS = [
    b"", b"\0", b"\n", b"\r\n", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\x80",
    b"\\ud800", b"null", b"true", b"NaN", b"Infinity", b"-0", b"1e999", b"9" * 400, b"-1",
    b"18446744073709551616", b"9007199254740993", b"0.1e-400", b'"', b"'", b"`", b"{", b"}", b"[",
    b"]", b"(", b")", b"<", b">", b"/", b"~", b"~2", b"/-", b"\\", b"//", b"/*", b"*/", b"#",
    b"---", b"```", b"**", b"*a*a*a*b", b"!", b"../", b"__proto__", b"\x1b[2J", b"\xe2\x80\xae",
    b"%00", b"${", b"{{", b"]]>", b"=", b":", b",", b"\t", b" " * 50, b"re:(a|aa)+$", b"path:**",
    b'"type":', b'{"$ref":', b"\xf4\x90\x80\x80", b"[" * 2_000, b'{"a":' * 1_000, b"((((" * 200,
]  # fmt: skip


def mutated(seeds: Sequence[bytes], draw: random.Random) -> bytes:
    """Some seed after one to six changes."""
    data = bytearray(draw.choice(seeds))
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        at = draw.randint(0, len(data))
        length = min(draw.choice((1, 2, 4, 8, 32, 200)), len(data) - at)
        match draw.randrange(9):
            case 0 if data:
                data[at % len(data)] ^= 1 << draw.randrange(8)
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length] * draw.choice((1, 2, 50))
            case 3:
                data[at:at] = draw.choice(WORDS)
            case 4:
                data[at : at + length] = draw.choice(WORDS)
            case 5:
                other = draw.choice(seeds)
                start = draw.randint(0, len(other))
                data[at:] = other[start:]
            case 6:
                del data[at:]
            case 7:
                data[at:at] = draw.choice(WORDS) * draw.choice((2, 20, 300))
            case _:
                data[at : at + length] = draw.randbytes(length)
    return bytes(data[:BYTES_MAX])
