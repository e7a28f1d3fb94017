"""From a typed path to a file and a run of lines."""

import math
from pathlib import Path

import pytest

from holdfast.reading import scope as scopes
from holdfast.reading.errors import BadArgument, BadRange
from holdfast.reading.paths import Place, Request, Target, accessible, locate
from holdfast.reading.scope import WHOLE, Lines


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    return Place(str(tmp_path / "work"), str(tmp_path / "home"))


def put(place: Place, name: str) -> str:
    path = Path(place.cwd, name)
    path.write_text("text")
    return str(path)


@pytest.mark.shows("READ-PATH-HOME", "READ-T-PATH")
def test_expands_home_shortcuts(place: Place) -> None:
    assert place.expand("~") == place.home
    assert place.expand("~/notes/a.txt") == f"{place.home}/notes/a.txt"
    assert place.expand("~user/a") == f"{place.cwd}/~user/a"


@pytest.mark.shows("READ-PATH-FORGIVE", "READ-T-PATH")
def test_an_at_sign_and_odd_spaces_still_name_the_file(place: Place) -> None:
    path = put(place, "my notes.txt")
    assert locate(Request("@my\u00a0notes.txt"), place).path == path
    assert locate(Request("my\u202fnotes.txt"), place).path == path
    assert place.expand("@@x") == f"{place.cwd}/@x"


@pytest.mark.shows("READ-PATH-ABSOLUTE")
def test_absolute_paths_keep_their_spelling_and_relative_ones_are_normalised(place: Place) -> None:
    assert place.expand("/a/../a//f") == "/a/../a//f"
    assert place.expand("b/../c/./f") == f"{place.cwd}/c/f"


@pytest.mark.shows("READ-PATH-VARIANTS", "READ-T-PATH")
def test_names_as_macos_writes_them_are_found(place: Place) -> None:
    shot = put(place, "Shot at 10.00.00\u202fAM.txt")
    assert locate(Request("Shot at 10.00.00 AM.txt"), place).path == shot
    both = put(place, "Capture d\u2019e\u0301cran.txt")
    assert locate(Request("Capture d'\u00e9cran.txt"), place).path == both


@pytest.mark.shows("READ-SUFFIX", "READ-EDGE-01", "READ-T-PATH")
def test_a_colon_in_a_name_that_exists_is_part_of_the_name(place: Place) -> None:
    path = put(place, "report:2024")
    assert locate(Request("report:2024"), place) == Target("report:2024", path, None, None)


@pytest.mark.shows("READ-SUFFIX", "READ-EDGE-02", "READ-DEC-02", "READ-T-PATH")
def test_a_suffix_gives_offset_and_limit(place: Place) -> None:
    path = put(place, "notes.txt")
    assert locate(Request("notes.txt:3-6"), place) == Target("notes.txt", path, 3, 4)
    assert locate(Request("notes.txt:3"), place) == Target("notes.txt", path, 3, None)


@pytest.mark.shows("READ-SUFFIX", "READ-T-PATH")
def test_no_suffix_is_read_when_offset_or_limit_is_given(place: Place) -> None:
    put(place, "notes.txt")
    found = locate(Request("notes.txt:3-6", offset=1), place)
    assert found.path == f"{place.cwd}/notes.txt:3-6"


@pytest.mark.parametrize(
    ("suffix", "words"),
    [
        ("3-", 'Invalid range suffix "3-". Use :<start> or :<start>-<end>.'),
        ("abc", 'Invalid range suffix "abc". Use :<start> or :<start>-<end>.'),
        ("-2", 'Invalid range suffix "-2". Use :<start> or :<start>-<end>.'),
        ("0", 'Invalid start line number "0". Line numbers must be positive integers.'),
        ("1-0", 'Invalid end line number "0". Line numbers must be positive integers.'),
        ("8-2", 'Invalid range "8-2": end line must be greater than or equal to start line.'),
    ],
)
@pytest.mark.shows("READ-SUFFIX", "READ-T-PATH")
def test_rejects_a_malformed_suffix_when_the_file_exists(
    place: Place, suffix: str, words: str
) -> None:
    put(place, "notes.txt")
    with pytest.raises(BadRange) as caught:
        locate(Request(f"notes.txt:{suffix}"), place)
    assert str(caught.value) == words


def test_a_huge_line_number_is_refused_not_computed(place: Place) -> None:
    put(place, "notes.txt")
    with pytest.raises(BadRange):
        locate(Request("notes.txt:" + "9" * 5000), place)


@pytest.mark.shows("READ-SUFFIX")
@pytest.mark.parametrize("typed", ["gone.txt:3", ":3", "notes.txt:"])
def test_a_suffix_after_nothing_that_exists_is_no_suffix(place: Place, typed: str) -> None:
    put(place, "notes.txt")
    found = locate(Request(typed), place)
    assert (found.typed, found.offset) == (typed, None)


def test_a_null_byte_is_refused(place: Place) -> None:
    with pytest.raises(BadArgument):
        locate(Request("a\0b"), place)


def test_a_name_no_file_system_can_hold_does_not_exist() -> None:
    assert not accessible("x" * 5000)
    assert not accessible("a\0b")


@pytest.mark.shows("READ-SCOPE", "READ-T-PATH")
@pytest.mark.parametrize(
    ("offset", "limit", "scope"),
    [
        (None, None, WHOLE),
        (1, 10, WHOLE),
        (1, 99, WHOLE),
        (3, None, Lines(3, 10)),
        (3, 4, Lines(3, 6)),
        (9, 5, Lines(9, 10)),
        (2.0, 2.0, Lines(2, 3)),
    ],
)
def test_clamps_offset_and_limit(
    offset: float | None, limit: float | None, scope: scopes.Scope
) -> None:
    lines = scopes.clamp(offset, limit, 10)
    assert lines is not None
    assert scopes.of(lines, 10) == scope


@pytest.mark.shows("READ-SCOPE", "READ-T-PATH")
@pytest.mark.parametrize(("offset", "limit"), [(99, None), (0, None), (None, 0), (2.5, 1), (-1, 3)])
def test_no_scope_outside_the_positive_integers_or_past_the_end(
    offset: float | None, limit: float | None
) -> None:
    assert scopes.clamp(offset, limit, 10) is None


@pytest.mark.shows("READ-SCOPE")
@pytest.mark.parametrize("key", ["full", "r:1:1", "r:10:40"])
def test_scope_keys_read_back(key: str) -> None:
    scope = scopes.parse(key)
    assert scope is not None
    assert scopes.key(scope) == key


@pytest.mark.parametrize(
    "key", ["", "Full", "r:0:3", "r:3:2", "r:1", "r:a:b", "r:-1:2", "r:1:2 ", "r:1:" + "9" * 99, 7]
)
def test_what_is_no_scope_key_is_none(key: object) -> None:
    assert scopes.parse(key) is None


@pytest.mark.shows("READ-ARGS", "READ-FOOT-07")
@pytest.mark.parametrize(
    ("arguments", "request_"),
    [
        ({"path": "a"}, Request("a")),
        ({"path": "a", "offset": "3", "limit": "2.5"}, Request("a", 3, 2.5)),
        ({"path": "a", "offset": None, "other": [1]}, Request("a")),
        ({"path": "a", "bypass_cache": True}, Request("a", bypass_cache=True)),
        ({"path": "", "offset": -1, "limit": 0}, Request("", -1, 0)),
    ],
)
def test_arguments_of_a_call_become_a_request(
    arguments: dict[str, object], request_: Request
) -> None:
    assert Request.from_arguments(arguments) == request_


@pytest.mark.shows("READ-ARGS")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "path must be a string"),
        ({"path": 7, "offset": []}, "path must be a string; offset must be a number"),
        ({"path": "a", "offset": True}, "offset must be a number"),
        ({"path": "a", "limit": "many"}, "limit must be a number"),
        ({"path": "a", "limit": "nan"}, "limit must be a number"),
        ({"path": "a", "limit": "9" * 5000}, "limit must be a number"),
        ({"path": "a", "offset": {"n": 1}}, "offset must be a number"),
        ({"path": "a", "bypass_cache": "yes"}, "bypass_cache must be a boolean"),
    ],
)
def test_every_fault_of_the_arguments_is_named(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(BadArgument) as caught:
        Request.from_arguments(arguments)
    assert str(caught.value) == words


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True])
def test_a_request_counts_with_finite_numbers(value: float) -> None:
    with pytest.raises(BadArgument):
        Request("a", offset=value)
    with pytest.raises(BadArgument):
        Request("a", limit=value)
