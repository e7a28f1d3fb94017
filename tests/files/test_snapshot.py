"""What changed between two looks, judged by a simpler model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.files.moved import moved
from holdfast.files.snapshot import (
    RACY_NS,
    Entry,
    Snapshot,
    Stat,
    compare,
    compressed,
    covered,
)

keys = st.sampled_from(["a", "a/b", "a/c", "ab", "d/e/f", "d/eg"])
entries = st.dictionaries(
    keys,
    st.builds(lambda s, d: Entry(Stat(s, s, s), d), st.integers(0, 2), st.sampled_from("xyz")),
)
parts = st.frozensets(st.sampled_from(["a", "d", "d/e", "ab", ""]), max_size=2)


@pytest.mark.shows("FILES-COMPARE", "FILES-UNREADABLE")
@given(entries, entries, parts)
def test_changes_are_what_two_dictionaries_say(
    old: dict[str, Entry], new: dict[str, Entry], unreadable: frozenset[str]
) -> None:
    new = {k: e for k, e in new.items() if not covered(k, unreadable)}
    before, after = Snapshot(old, 1), Snapshot(new, 2, compressed(unreadable))
    changes = compare(before, after)
    assert set(changes.added) == new.keys() - old.keys()
    hidden = {k for k in old.keys() - new.keys() if covered(k, unreadable)}
    assert set(changes.removed) == old.keys() - new.keys() - hidden
    assert set(changes.modified) == {
        k for k in old.keys() & new.keys() if old[k].digest != new[k].digest
    }
    for source, target in changes.renamed:
        assert old[source].digest == new[target].digest
        assert source in changes.removed
        assert target in changes.added


stamps = st.integers(0, 4).map(lambda n: n * 1_000_000_000)


@pytest.mark.shows("FILES-COMPARE")
@given(
    st.dictionaries(keys, st.builds(lambda *s: Entry(Stat(*s), "x"), st.just(1), stamps, stamps)),
    st.dictionaries(keys, st.builds(Stat, st.just(1), stamps, stamps)),
    stamps,
)
def test_one_pass_finds_what_is_not_unchanged_and_what_is_gone(
    old: dict[str, Entry], stats: dict[str, Stat], taken_ns: int
) -> None:
    def unchanged(known: Entry | None, stat: Stat) -> bool:
        if known is None or known.stat != stat:
            return False
        return max(stat.mtime_ns, stat.ctime_ns) < taken_ns - RACY_NS

    todo, gone = moved(Snapshot(old, taken_ns), stats)
    assert todo == sorted(k for k, s in stats.items() if not unchanged(old.get(k), s))
    assert gone == old.keys() - stats.keys()


@pytest.mark.shows("FILES-COMPARE")
@given(st.lists(keys))
def test_compressed_parts_cover_the_same(found: list[str]) -> None:
    fewer = compressed(found)
    for key in ["a", "a/b", "ab", "d/e/f", "d/eg", "z"]:
        twin = any(not part or f"{key}/".startswith(f"{part}/") for part in found)
        assert covered(key, fewer) == covered(key, {*found}) == twin
    assert not any(covered(part, fewer - {part}) for part in fewer)


def test_parts_cover_by_whole_segments() -> None:
    assert covered("sub/a", {"sub"})
    assert not covered("subject", {"sub"})
    assert covered("anything", {""})


def test_as_many_parts_as_files_are_compressed_in_linear_time() -> None:
    """Each was compared with all before: with 33,000 files a search took minutes."""
    parts = [f"package{n % 300}/file{n}" for n in range(100_000)]
    assert compressed([*parts, "package7"]) == {
        part for part in parts if not part.startswith("package7/")
    } | {"package7"}
