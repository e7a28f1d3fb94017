"""Every documented form of a case is known to its player, and a false one fails.

The recorded cases do not use all forms that their formats allow. A player that does not know a form
fails a case that is right, so each form has a small case of its own here.
"""

from typing import Any

import pytest

from tests.conformance.players import sequence, store
from tests.conformance.players.store_wire import WirePlayer

ABC: dict[str, Any] = {"atoms": ["a", "b", "c"], "patterns": [["abc", ["a", "b", "c"]]]}


def play_store(level: str, steps: list[dict[str, Any]], expect: list[dict[str, Any]]) -> None:
    case = {"name": "form", "level": level, "status": "seed", "steps": steps, "expect": expect}
    store.play(case)


WORDS = ["abab", "abcabc", "babc"]


@pytest.mark.parametrize(
    "form",
    [
        {"kind": "frequency_labels", "expect": ["ab", "abc", "bab"]},
        {"kind": "frequency_labels", "expect": {"frequency_labels": ["ab", "abc", "bab"]}},
        {"kind": "labels", "expect": {"frequency_labels": ["ab", "abc", "bab"]}},
        {"kind": "labels", "expect": {"labels": ["ab", "abc", "bab"]}},
        {"kind": "canonical", "expect": {"frequency_labels": ["ab", "abc", "bab"]}},
        {"kind": "read", "expect": {"frequency_labels": ["ab", "abc", "bab"]}},
    ],
)
def test_build_cases_may_name_the_frequency_labels(form: dict[str, Any]) -> None:
    sequence.play_build({"name": "labels", "texts": WORDS, **form})


@pytest.mark.parametrize("kind", ["frequency_labels", "labels", "canonical", "read"])
def test_a_wrong_frequency_label_fails_the_case(kind: str) -> None:
    expect = {"frequency_labels": ["ab", "abc"]}
    with pytest.raises(AssertionError):
        sequence.play_build({"name": "labels", "texts": WORDS, "kind": kind, "expect": expect})


def search_case(**expect: Any) -> dict[str, Any]:
    return {
        "name": "search",
        **ABC,
        "query": ["b", "c", "a"],
        "method": "find_ancestor",
        "expect": {"kind": "postfix", "root": "abc", "atom_position": 2, "query_exhausted": False}
        | expect,
    }


RIGHT = {"checkpoint_end": 1, "position": 2}


def test_search_cases_may_give_checkpoint_end_and_position() -> None:
    sequence.play_search(search_case(**RIGHT))
    sequence.play_search(search_case(asserted_by_test=RIGHT))
    checkpoint = {"state": "Matched", "index": 1, "position": 2}
    sequence.play_search(search_case(checkpoint=checkpoint))


@pytest.mark.parametrize("wrong", [{"checkpoint_end": 2}, {"position": 3}])
def test_a_wrong_checkpoint_end_or_position_fails_the_case(wrong: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        sequence.play_search(search_case(**wrong))
    with pytest.raises(AssertionError):
        sequence.play_search(search_case(asserted_by_test=wrong))


def test_a_search_case_may_give_the_position_without_the_atom_position() -> None:
    case = search_case(**RIGHT)
    del case["expect"]["atom_position"]
    sequence.play_search(case)


@pytest.mark.parametrize("text", ["-_8B", "+/8B", "AQIDBA==", "AQIDBA"])
def test_blob_cases_may_give_their_bytes_in_base64(text: str) -> None:
    put = {"op": "blob.put", "base64": text, "contentType": "text/plain"}
    expected = {"contentType": "text/plain", "readback": text}
    play_store("engine", [{"op": "open"}, put], [{"step": 1, "contains": expected}])


def test_bytes_in_base64_and_in_hex_are_the_same_blob() -> None:
    known = "ba4jcbh3eu5d6dol7cmp2xnvui4uwzg3paia6ph5tyu2w43dx5cnwvadk"
    puts = [{"op": "blob.put", "base64": "AQIDBA=="}, {"op": "blob.put", "hex": "01020304"}]
    expected = [{"step": step, "contains": {"hash": known, "size": 4}} for step in (1, 2)]
    play_store("engine", [{"op": "open"}, *puts], expected)


def test_a_blob_case_without_bytes_is_an_error() -> None:
    with pytest.raises(AssertionError, match="hex, bytes or base64"):
        play_store("engine", [{"op": "open"}, {"op": "blob.put"}], [])


@pytest.mark.parametrize("level", ["store", "path"])
@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"op": "store.root", "store": "file:///srv/x/"}, "file:///srv/x/engine-v3/"),
        ({"op": "store.root", "store": "file:///srv/x/"}, "/srv/x/engine-v3"),
        ({"op": "store.root", "store": "file:///srv/m.db"}, "file:///srv/m.engine-v3/"),
        (
            {"op": "store.resolve", "store": "file:///srv/a%20b/", "subject": "s"},
            "file:///srv/a%20b/engine-v3/s.sqlite",
        ),
        ({"op": "store.root", "root": "file:///srv/x/"}, "file:///srv/x/engine-v3"),
        ({"op": "store.root", "store": "memory://x"}, None),
    ],
)
def test_path_cases_may_give_their_roots_as_file_urls(
    level: str, step: dict[str, Any], expected: str | None
) -> None:
    play_store(level, [step], [{"step": 0, "equals": expected}])


@pytest.mark.parametrize("level", ["store", "path"])
def test_a_wrong_file_url_fails_the_case(level: str) -> None:
    step = {"op": "store.root", "store": "file:///srv/x/"}
    with pytest.raises(AssertionError):
        play_store(level, [step], [{"step": 0, "equals": "file:///srv/y/engine-v3/"}])


def test_messages_that_a_wire_case_received_are_acknowledged() -> None:
    # They were taken but never acknowledged, so a long case looked like a peer that does not read.
    player = WirePlayer("later", {})
    try:
        player.step({"op": "connect", "conn": "a"})
        frames = player.step(
            {"op": "send", "conn": "a", "message": {"type": "hello", "protocol": "memory/v2"}}
        )
        assert frames
        assert player.unread("a") == 0
    finally:
        player.close()
