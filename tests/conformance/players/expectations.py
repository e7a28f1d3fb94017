"""What a case may expect of a step's result."""

from typing import Any


class Failed:
    """A step that raised."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.name = getattr(error, "name", type(error).__name__)

    def __repr__(self) -> str:
        return f"{self.name}: {self.error}"


def check(expectation: dict[str, Any], result: Any) -> None:
    """Raise unless the result is as expected; an unknown kind of expectation is an error."""
    kinds = set(expectation) - {"step", "note"}
    assert len(kinds) == 1, f"one kind per expectation: {expectation}"
    (kind,) = kinds
    wanted = expectation[kind]
    if kind == "error":
        _check_error(wanted, result)
        return
    assert not isinstance(result, Failed), f"expected {kind}, but the step failed: {result!r}"
    match kind:
        case "equals":
            assert strictly_equal(wanted, result), f"expected {wanted!r}, got {result!r}"
        case "contains":
            assert contains(wanted, result), f"expected a superset of {wanted!r}, got {result!r}"
        case "ids":
            found = [entity["id"] for entity in result["entities"]]
            assert found == wanted, f"expected entities {wanted!r}, got {found!r}"
        case "frames":
            assert matches(wanted, result), f"expected frames {wanted!r}, got {result!r}"
        case "frames_contain":
            assert isinstance(result, list), f"frames are a list: {result!r}"
            assert len(wanted) == len(result), f"expected {len(wanted)} frames, got {result!r}"
            for one, other in zip(wanted, result, strict=True):
                assert contains(one, other), f"expected a superset of {one!r}, got {other!r}"
        case _:
            raise AssertionError(f"no such expectation: {kind!r}")


def _check_error(wanted: dict[str, Any], result: Any) -> None:
    assert isinstance(result, Failed), f"expected the error {wanted!r}, got {result!r}"
    unknown = set(wanted) - {"name", "message_contains"}
    assert not unknown, f"no such expectation of an error: {unknown}"
    if "name" in wanted:
        assert result.name == wanted["name"], f"expected {wanted!r}, got {result!r}"
    if "message_contains" in wanted:
        assert wanted["message_contains"] in str(result.error), f"wanted {wanted!r}, got {result!r}"


def strictly_equal(one: Any, other: Any) -> bool:
    """Equal, and booleans are not numbers."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(strictly_equal(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(strictly_equal, one, other))
    return bool(one == other)


def contains(wanted: Any, result: Any) -> bool:
    """Objects may have more members than wanted; lists have the same length."""
    if isinstance(wanted, dict):
        return isinstance(result, dict) and all(
            name in result and contains(value, result[name]) for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(result, list | tuple)
            and len(wanted) == len(result)
            and all(map(contains, wanted, result))
        )
    return matches(wanted, result)


def matches(wanted: Any, result: Any) -> bool:
    """Exactly equal but for wildcards: `<any-string>`, `<any-int>`, `<not:X>`."""
    if wanted == "<any-string>":
        return isinstance(result, str)
    if wanted == "<any-int>":
        return isinstance(result, int) and not isinstance(result, bool)
    if isinstance(wanted, str) and wanted.startswith("<not:") and wanted.endswith(">"):
        return bool(result != wanted[5:-1])
    if isinstance(wanted, dict) and isinstance(result, dict):
        return wanted.keys() == result.keys() and all(matches(wanted[k], result[k]) for k in wanted)
    if isinstance(wanted, list) and isinstance(result, list | tuple):
        return len(wanted) == len(result) and all(map(matches, wanted, result))
    return strictly_equal(wanted, result)
