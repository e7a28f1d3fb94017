"""The plain answer, against a naive renderer and the recorded rules."""

import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.reading import baseline, images, javascript
from holdfast.reading.baseline import Dialect, render
from holdfast.reading.errors import BeyondEnd
from holdfast.reading.scope import Lines
from tests.reading.desk import numbered


def naive(text: str, offset: int | None, limit: int | None, dialect: Dialect) -> str:
    """The rules as sentences, line by line, with no thought for speed."""
    lines = text.split("\n")
    start = max(0, offset - 1) if offset else 0
    chosen = lines[start:] if limit is None else lines[start : min(start + limit, len(lines))]
    counted = list(chosen)
    if dialect is Dialect.UNCOUNTED and len(counted) > 1 and counted[-1] == "":
        counted.pop()
    size = len("\n".join(chosen).encode())
    if len(counted) <= 2000 and size <= 51200:
        shown = "\n".join(chosen)
        if limit is not None and start + limit < len(lines):
            left = len(lines) - start - limit
            shown += f"\n\n[{left} more lines in file. Use offset={start + limit + 1} to continue.]"
        return shown
    if len(counted[0].encode()) > 51200:
        kb = javascript.size(len(counted[0].encode()))
        return (
            f"[Line {start + 1} is {kb}, exceeds 50.0KB limit."
            f" Use bash: sed -n '{start + 1}p' f | head -c 51200]"
        )
    taken: list[str] = []
    for line in counted:
        if len(taken) == 2000 or len("\n".join([*taken, line]).encode()) > 51200:
            break
        taken.append(line)
    last = start + len(taken)
    why = "" if len(taken) == 2000 else " (50.0KB limit)"
    return "\n".join(taken) + (
        f"\n\n[Showing lines {start + 1}-{last} of {len(lines)}{why}."
        f" Use offset={last + 1} to continue.]"
    )


texts = st.one_of(
    st.text(st.sampled_from("ab\n\ré\u2028\x85\x0c"), max_size=60),
    st.builds(
        lambda n, unit, end: "\n".join([unit] * n) + end,
        st.integers(1990, 2010),
        st.sampled_from(["", "x", "é" * 14]),
        st.sampled_from(["", "\n", "\n\n"]),
    ),
    st.builds(
        lambda n, width, end: "\n".join(["x" * width] * n) + end,
        st.integers(1, 4),
        st.integers(25_590, 51_205),
        st.sampled_from(["", "\n"]),
    ),
)


@pytest.mark.shows("READ-BASE-TEXT", "READ-BASE-LIMITS", "READ-BASE-NOTICES", "READ-BASE-DIALECTS")
@given(
    texts, st.none() | st.integers(1, 5), st.none() | st.integers(1, 2005), st.sampled_from(Dialect)
)
def test_the_renderer_prints_what_the_rules_say(
    text: str, offset: int | None, limit: int | None, dialect: Dialect
) -> None:
    total = baseline.count_lines(text)
    if offset is not None and offset > total:
        with pytest.raises(BeyondEnd):
            render(text, "f", offset, limit, dialect)
        return
    found = render(text, "f", offset, limit, dialect)
    assert found.text == naive(text, offset, limit, dialect)
    assert found.printed == baseline.printed_lines(text, total, offset, limit, dialect)
    if found.printed is not None:
        shown = text.split("\n")[found.printed.first - 1 : found.printed.last]
        assert found.text.startswith("\n".join(shown))


@pytest.mark.shows("READ-BASE-LINES", "READ-EDGE-04", "READ-T-TEXT")
@pytest.mark.parametrize(
    ("text", "count"), [("", 1), ("\n", 2), ("a", 1), ("a\nb\n", 3), ("a\rb\u2028c\x85d\x0ce", 1)]
)
def test_lines_end_at_newlines_only(text: str, count: int) -> None:
    assert baseline.count_lines(text) == count


@pytest.mark.shows("READ-BASE-LIMITS", "READ-T-TEXT", "READ-B01")
def test_a_cut_text_says_which_lines_it_shows() -> None:
    found = render(numbered(10_000), "f")
    assert found.printed == Lines(1, 2000)
    assert found.truncation is not None
    details = found.truncation.as_details()
    assert (details["truncatedBy"], details["outputLines"], details["totalLines"]) == (
        "lines",
        2000,
        10_000,
    )


@pytest.mark.shows("READ-BASE-DIALECTS")
def test_only_the_older_dialect_counts_the_line_after_a_final_newline() -> None:
    text = numbered(2000) + "\n"
    assert render(text, "f", dialect=Dialect.COUNTED).truncation is not None
    assert render(text, "f", dialect=Dialect.UNCOUNTED).truncation is None


@pytest.mark.shows("READ-BASE-ODD")
@pytest.mark.parametrize(
    ("offset", "limit", "end"),
    [
        (0, None, "line 12"),
        (-5, None, "line 12"),
        (None, 0, "\n\n[12 more lines in file. Use offset=1 to continue.]"),
        (None, -1, "line 11\n\n[13 more lines in file. Use offset=0 to continue.]"),
        (3, 2.5, "line 3\nline 4\n\n[7.5 more lines in file. Use offset=5.5 to continue.]"),
    ],
)
def test_odd_numbers_do_what_the_reference_does(
    offset: float | None, limit: float | None, end: str
) -> None:
    assert render(numbered(12), "f", offset, limit).text.endswith(end)


@given(
    st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9),
    st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9),
)
def test_any_offset_and_limit_prints_something_or_is_beyond_the_end(
    offset: float | None, limit: float | None
) -> None:
    with suppress(BeyondEnd):
        assert render(numbered(12), "f", offset, limit).text is not None


@pytest.mark.shows("READ-BASE-UTF8")
def test_bytes_that_are_not_text_become_replacement_characters() -> None:
    assert baseline.decode(b"\xff\xfe\x00\xf8\nA") == "\ufffd\ufffd\0\ufffd\nA"
    assert baseline.decode(b"\xef\xbb\xbfa") == "\ufeffa"


@pytest.mark.shows("READ-JS")
def test_numbers_look_as_javascript_prints_them() -> None:
    assert [javascript.number(n) for n in (3, 3.0, 7.5, 1e21, 1e-7, math.inf)] == [
        "3", "3", "7.5", "1e+21", "1e-7", "Infinity",
    ]  # fmt: skip
    assert javascript.binary_size(1280) == "1.3 KiB"
    assert javascript.size(51200) == "50.0KB"
    assert javascript.rounded(2.5) == 3
    assert javascript.trim_end("a\x1c \ufeff") == "a\x1c"


PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000020000000308060000007e9c2a1a")


@pytest.mark.shows("READ-BASE-IMAGES")
@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (PNG, "image/png"),
        (PNG[:33] + b"\0\0\0\x08acTL" + b"\0" * 12, None),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a\x02\0\x03\0", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 20, "image/webp"),
        (b"definitely not a png", None),
        (b"", None),
    ],
)
def test_images_are_known_by_their_first_bytes(head: bytes, mime: str | None) -> None:
    assert images.sniff(head) == mime


@pytest.mark.shows("READ-BASE-IMAGES", "READ-B19")
def test_an_image_that_is_too_big_to_show_is_only_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "_resized", lambda _: None)
    big = PNG[:16] + (9000).to_bytes(4, "big") * 2 + PNG[24:]
    shown = images.show(big, "image/png")
    assert shown.data is None
    assert shown.text.startswith("Read image file [image/png]\n")


@given(
    st.binary(max_size=80), st.sampled_from(["image/png", "image/jpeg", "image/gif", "image/webp"])
)
def test_damaged_images_have_no_size_and_raise_nothing(data: bytes, mime: str) -> None:
    images.dimensions(data, mime)
