"""Tests that stand among the code they test."""

from __future__ import annotations

import pytest

from holdfast.index.building.prepare import chunks_of
from holdfast.index.facts.extract import extract
from holdfast.index.facts.inline_tests import is_test_code

RUST = """\
pub fn price_of_eggs(eggs: &Basket) -> u32 { eggs.count() * 2 }

#[cfg(test)]
mod tests {
    use super::*;
%s
    fn basket_of_eggs() -> Basket { Basket::of(6) }

    #[test]
    fn price_of_eggs_is_right() { assert_eq!(price_of_eggs(&basket_of_eggs()), 12); }
}

#[tokio::test]
async fn price_of_eggs_alone() { price_of_eggs(&Basket::of(1)); }

mod testing_ground { pub fn walk() { step(); } }
"""
ZIG = """\
pub fn priceOfEggs(count: u32) u32 {
    return count * 2;
}

test "price of eggs" {
    try expect(priceOfEggs(6) == 12);
}
"""


def marked(path: str, text: str) -> list[str]:
    """The first code line of each chunk that is a test."""
    source = text.encode()
    facts = extract(path, source)
    owners = {chunk.span.start: chunk.owner for chunk in facts.chunks}
    return [
        chunk.text.strip().splitlines()[0]
        for chunk in chunks_of(source, facts)
        if is_test_code(facts, owners[chunk.start], chunk.text)
    ]


@pytest.mark.shows("SEARCH-SIGNAL-TESTS-INSIDE")
def test_a_short_module_of_tests_is_one() -> None:
    assert marked("src/eggs.rs", RUST % "") == ["#[cfg(test)]", "#[tokio::test]"]


@pytest.mark.shows("SEARCH-SIGNAL-TESTS-INSIDE")
def test_everything_in_a_long_module_of_tests_is_one() -> None:
    filler = "".join(f"    const PRICE_{i}: u32 = {i};\n" for i in range(40))
    found = marked("src/eggs.rs", RUST % filler)
    assert "fn basket_of_eggs() -> Basket { Basket::of(6) }" in found
    assert "#[test]" in found
    assert not [line for line in found if "mod testing_ground" in line or line.startswith("pub fn")]


@pytest.mark.shows("SEARCH-SIGNAL-TESTS-INSIDE")
def test_a_test_block_of_zig_is_one() -> None:
    assert marked("src/eggs.zig", ZIG) == ['test "price of eggs" {']


@pytest.mark.shows("SEARCH-SIGNAL-TESTS-INSIDE")
def test_other_languages_have_none() -> None:
    assert marked("src/tests.py", "class tests:\n    def test_it(self): ...\n") == []
