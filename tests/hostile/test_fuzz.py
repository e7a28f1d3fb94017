"""Every parser of what others wrote: whatever the bytes, it reads or refuses, within limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hostile.fuzz import INPUTS, fuzz, share
from tests.hostile.parsers import Parser, parsers
from tests.scale import QUICK, SOAKING, examples

SEED = 15
TOTAL = INPUTS // 20 if QUICK else INPUTS * 20 if SOAKING else INPUTS

scalars = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=6)
)
words = st.sampled_from(
    [
        "type", "id", "parentId", "message", "content", "role", "details", "v", "payload", "uuid",
        "parentUuid", "sessionId", "toolUseResult", "requestId", "space", "commit", "operations",
        "op", "path", "value", "roots", "selector", "schema", "$ref", "properties", "kind",
        "format", "codebases", "formatVersion", "fingerprint", "hook_event_name", "session_id",
        "tool_input", "transcript_path", "tool_calls", "tool_name", "host", "agent", "offset",
        "limit", "/",
    ]
) | st.text(max_size=4)  # fmt: skip
trees = st.recursive(
    scalars | st.sampled_from(["user", "assistant", "session", "response_item", "transact", "set"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=25,
)


def takes_json(parser: Parser) -> bool:
    return parser.seeds[0][:1] in (b"{", b"[")


def test_the_parsers_get_all_inputs_together() -> None:
    assert sum(share(parser) for parser in parsers()) >= INPUTS
    assert len({parser.name for parser in parsers()}) == len(parsers())


def test_parsers_accept_valid_input(tmp_path: Path) -> None:
    """Otherwise mutations would only try the first check."""
    for parser in parsers():
        outcomes = [parser.outcome(seed, tmp_path) for seed in parser.seeds]
        assert "read" in outcomes, parser.name


@pytest.mark.shows("SEC-FUZZ")
@pytest.mark.parametrize("parser", parsers(), ids=lambda parser: parser.name)
def test_mutated_input_is_read_or_refused(parser: Parser, tmp_path: Path) -> None:
    fuzz(parser, share(parser, TOTAL), SEED, tmp_path).kept_every_promise()


@pytest.mark.shows("SEC-FUZZ")
@pytest.mark.parametrize(
    "parser", [p for p in parsers() if takes_json(p)], ids=lambda parser: parser.name
)
@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(values=st.lists(trees, min_size=1, max_size=4))
def test_any_json_is_read_or_refused(parser: Parser, tmp_path: Path, values: list[Any]) -> None:
    lines = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    parser.outcome(lines if b"\n" in parser.seeds[0][:-1] else lines.split(b"\n")[0], tmp_path)


def test_a_parser_that_fails_is_found(tmp_path: Path) -> None:
    def fragile(data: bytes, _: Path) -> None:
        if b"\0" in data:
            raise KeyError("no NUL expected")

    found = fuzz(Parser("fragile", fragile, (b"some text",)), 2_000, SEED, tmp_path)
    assert found.outcomes["failed"] == len(found.problems) > 0
    assert "KeyError" in found.problems[0]


_CALL = (
    b'{"type":"response_item","payload":{"type":"function_call","call_id":"c","name":"shell",'
    b'"arguments":"{\\"command\\": [\\"cat\\", \\"a\\ud800.py\\"]}"}}\n'
    b'{"type":"response_item","payload":{"type":"function_call_output","call_id":"c",'
    b'"output":"{\\"output\\":\\"text\\",\\"metadata\\":{\\"exit_code\\":0}}"}}\n'
)
FOUND = {
    "session log of Codex": b'{"type":"session_meta","payload":{"id":"s","cwd":"/w"}}\n' + _CALL,
    "manifest of segments": b'{"format":' + b"[" * 100_000,
}
"""Inputs that made a parser fail once, found by longer runs."""


@pytest.mark.shows("SEC-FUZZ")
@pytest.mark.parametrize("name", FOUND)
def test_inputs_that_failed_once_are_read_or_refused(name: str, tmp_path: Path) -> None:
    (parser,) = [each for each in parsers() if each.name == name]
    assert parser.outcome(FOUND[name], tmp_path) in ("read", "refused")
