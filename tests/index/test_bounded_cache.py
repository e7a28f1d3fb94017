"""The cache against a plain list of what was used, newest last."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.bounded_cache import BoundedCache

STEPS = st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.integers(0, 15)), max_size=60)


@given(STEPS)
def test_the_values_used_last_stay_as_far_as_they_fit(steps: list[tuple[bool, int, int]]) -> None:
    size_max = 80
    cache: BoundedCache[int, str] = BoundedCache(size_max)
    plain: list[tuple[int, str, int]] = []
    for number, (puts, key, size) in enumerate(steps):
        found = next((entry for entry in plain if entry[0] == key), None)
        if not puts:
            assert cache.get(key) == (found[1] if found else None)
            if found:
                plain.remove(found)
                plain.append(found)
        else:
            cache.put(key, f"{key} at {number}", size)
            if size <= size_max / 8:
                plain = [entry for entry in plain if entry[0] != key]
                plain.append((key, f"{key} at {number}", size))
                while sum(entry[2] for entry in plain) > size_max:
                    plain.pop(0)
    there = {entry[0]: entry[1] for entry in plain}
    assert cache.several(range(10)) == [there[key] for key in range(10) if key in there]
    for key in range(10):
        assert cache.get(key) == next((e[1] for e in plain if e[0] == key), None)


def test_values_that_are_taken_together_count_as_used() -> None:
    cache: BoundedCache[int, str] = BoundedCache(80)
    for key in range(8):
        cache.put(key, f"value {key}", 10)
    assert cache.several([0, 99, 1]) == ["value 0", "value 1"]
    cache.put(8, "value 8", 10)
    cache.put(9, "value 9", 10)
    assert cache.several(range(4)) == ["value 0", "value 1"]
