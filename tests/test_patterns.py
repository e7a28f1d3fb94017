from __future__ import annotations

import pickle
import re

import pytest

from holdfast.patterns import lazy_pattern


def test_a_lazy_pattern_does_what_a_compiled_one_does() -> None:
    lazy, real = lazy_pattern(r"(\w+)-(\d+)", re.ASCII), re.compile(r"(\w+)-(\d+)", re.ASCII)
    for _ in range(2):
        for text in ("", "a-1", "x a-1 b-2", "ä-1"):
            assert [m.groups() for m in lazy.finditer(text)] == [
                m.groups() for m in real.finditer(text)
            ]
            assert bool(lazy.match(text)) == bool(real.match(text))
            assert bool(lazy.search(text)) == bool(real.search(text))
            assert bool(lazy.fullmatch(text)) == bool(real.fullmatch(text))
            assert lazy.sub(r"\2", text) == real.sub(r"\2", text)
            assert lazy.split(text) == real.split(text)
    assert (lazy.pattern, lazy.flags, lazy.groups) == (real.pattern, real.flags, real.groups)
    assert repr(lazy) == repr(real)


def test_it_is_compiled_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    real = re.compile

    def noted(text: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(text)
        return real(text, flags)

    monkeypatch.setattr(re, "compile", noted)
    pattern = lazy_pattern(r"b+")
    assert not compiled
    for _ in range(3):
        assert pattern.search("abc")
    assert compiled == ["b+"]


def test_a_pattern_of_bytes_matches_bytes() -> None:
    assert lazy_pattern(rb"b+").findall(b"abbcb") == [b"bb", b"b"]


def test_it_has_no_attributes_that_a_pattern_does_not_have() -> None:
    with pytest.raises(AttributeError):
        lazy_pattern("a").nothing  # type: ignore[attr-defined]  # noqa: B018
    assert pickle.loads(pickle.dumps(lazy_pattern("a"))).match("a")
