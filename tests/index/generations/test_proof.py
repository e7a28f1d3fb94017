"""Every outcome and reason of the completion-proof validator."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.errors import UsageError
from holdfast.files.paths import canonical_root, relative_key, within
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.marker import MARKER_KIND, Marker, encode
from holdfast.index.generations.proof import Outcome, Reason, judge, validate_completion_proof

RUNTIME = Fingerprint("hashed", "m", 256, "sqlite", "v1")
ROOT = "/nowhere/repo"


def marker(**changes: object) -> dict[str, Any]:
    good = json.loads(encode(Marker(ROOT, RUNTIME, 3, 9, "2026-11-15T12:00:00Z", "run_1", 1)))
    return {k: v for k, v in (good | changes).items() if v != "DROP"}


PAYLOAD = ("stale_local", "invalid_payload")
KIND = ("stale_local", "invalid_marker_kind")
FAILED = ("probe_failed", "probe_failed")
MISMATCH = ("fingerprint_mismatch", "fingerprint_mismatch")


def with_dimension(value: object) -> dict[str, object]:
    return RUNTIME.to_wire() | {"embeddingDimension": value}


def row(name: str, *values: object) -> Any:
    return pytest.param(*values, id=f"ISS-INDEX-STABILITY-{name}")


class Stored:
    def __init__(self, raw: object) -> None:
        self.raw = raw

    def read_marker(self, root: str) -> object:
        if isinstance(self.raw, BaseException):
            raise self.raw
        return self.raw


def verdict(raw: object) -> tuple[str, str | None]:
    proof = validate_completion_proof(ROOT, Stored(raw), RUNTIME)
    return proof.outcome.value, proof.reason.value if proof.reason else None


@pytest.mark.shows(
    "ISS-INDEX-STABILITY-P1", "ISS-INDEX-STABILITY-P2", "ISS-INDEX-STABILITY-P3",
    "ISS-INDEX-STABILITY-P4", "ISS-INDEX-STABILITY-P5", "ISS-INDEX-STABILITY-P6",
    "ISS-INDEX-STABILITY-P7", "ISS-INDEX-STABILITY-P8", "ISS-INDEX-STABILITY-P9",
    "ISS-INDEX-STABILITY-TDD-1",
)  # fmt: skip
@pytest.mark.parametrize(
    ("raw", "outcome", "reason"),
    [
        row("P2-timeout", TimeoutError(), *FAILED),
        row("P2-transport", ConnectionError(), *FAILED),
        row("P2-auth", PermissionError(), *FAILED),
        row("P2-parse", ValueError("unparseable response"), *FAILED),
        row("P3", None, "stale_local", "missing_marker_doc"),
        row("P4-text", "{not json", *PAYLOAD),
        row("P4-list", "[1]", *PAYLOAD),
        row("P4-number", 7, *PAYLOAD),
        row("P4-bytes", b"\xff\xfe", *PAYLOAD),
        row("P5", marker(kind="other_v1"), *KIND),
        row("P5-missing", marker(kind="DROP"), *KIND),
        row("P5-before-payload", {"kind": "other", "codebasePath": 1}, *KIND),
        row("P6-blank-path", marker(codebasePath="  "), *PAYLOAD),
        row("P6-no-path", marker(codebasePath=None), *PAYLOAD),
        row("P6-nul-path", marker(codebasePath="/a\0b"), *PAYLOAD),
        row("P6-half-letter-path", json.dumps(marker(codebasePath="/\ud800")), *PAYLOAD),
        row("P6-fingerprint", marker(fingerprint=[]), *PAYLOAD),
        row("P6-four-missing", marker(fingerprint={"embeddingProvider": "x"}), *PAYLOAD),
        row("P6-dimension-text", marker(fingerprint=with_dimension("256")), *PAYLOAD),
        row("P6-negative", marker(indexedFiles=-1), *PAYLOAD),
        row("P6-fraction", marker(indexedFiles=1.5), *PAYLOAD),
        row("P6-string", marker(totalChunks="9"), *PAYLOAD),
        row("P6-unsafe", marker(totalChunks=2**53), *PAYLOAD),
        row("P6-bool", marker(totalChunks=True), *PAYLOAD),
        row("P6-date", marker(completedAt="soon"), *PAYLOAD),
        row("P6-run", marker(runId=""), *PAYLOAD),
        row("P7", marker(codebasePath="/nowhere/other"), "stale_local", "path_mismatch"),
        row("P8", marker(fingerprint=with_dimension(128)), *MISMATCH),
        row("P9", marker(), "valid", None),
        row("P9-text", json.dumps(marker()), "valid", None),
        row("P9-spelling", marker(codebasePath="/nowhere/repo/."), "valid", None),
    ],
)  # fmt: skip
def test_a_marker_is_judged(raw: object, outcome: str, reason: str | None) -> None:
    assert verdict(raw) == (outcome, reason)


@pytest.mark.shows("ISS-INDEX-STABILITY-P1")
def test_iss_index_stability_p1_a_backend_without_a_marker_reader_is_a_failed_probe() -> None:
    proof = validate_completion_proof(ROOT, object(), RUNTIME)
    assert (proof.outcome, proof.reason) == (Outcome.PROBE_FAILED, Reason.PROBE_FAILED)


@pytest.mark.shows("INDEX-FINGERPRINT")
@pytest.mark.parametrize("name", list(RUNTIME.to_wire()))
def test_each_of_the_five_values_must_agree(name: str) -> None:
    wire = RUNTIME.to_wire()
    value = wire[name]
    changed = wire | {name: value + 1 if isinstance(value, int) else f"{value}x"}
    assert verdict(marker(fingerprint=changed))[0] == "fingerprint_mismatch"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.shows("INDEX-PROOF-FUZZ")
@given(st.dictionaries(st.sampled_from(sorted(marker())), json_values, max_size=4))
def test_only_a_whole_marker_of_this_root_and_fingerprint_is_valid(changes: dict[str, Any]) -> None:
    """The twin: valid exactly if every field reads as the good marker's does or is harmless."""
    proof = judge(marker(**changes), ROOT, RUNTIME)
    if proof.valid:
        assert proof.marker is not None
        assert proof.marker.codebase_path.rstrip("/.") == ROOT
        assert proof.marker.fingerprint == RUNTIME
        assert changes.get("kind", MARKER_KIND) == MARKER_KIND
        for count in (proof.marker.indexed_files, proof.marker.total_chunks):
            assert isinstance(count, int)
            assert count >= 0


@pytest.mark.shows("INDEX-PROOF-FUZZ")
@given(st.binary(max_size=60))
def test_no_bytes_make_the_validator_raise(raw: bytes) -> None:
    assert judge(raw, ROOT, RUNTIME).outcome is Outcome.STALE_LOCAL


@pytest.mark.shows("INDEX-CANONICAL-ROOT")
@pytest.mark.parametrize("text", ["/a\0b", "\0", "/\ud800", "~\udfff/x", "/bad\udcff"])
def test_a_text_that_is_no_path_is_refused_as_such(text: str) -> None:
    """The system's own ValueError went through every tool and left a client with a traceback."""
    with pytest.raises(UsageError, match="cannot be indexed"):
        canonical_root(text)


@pytest.mark.shows("ISS-INDEX-STABILITY-A16", "INDEX-CANONICAL-ROOT")
def test_every_spelling_of_a_root_is_one_identity(tmp_path: Path) -> None:
    repo = tmp_path.resolve() / "repo"
    repo.mkdir()
    link = tmp_path / "link"
    link.symlink_to(repo)
    spellings = [f"{repo}", f"{repo}/", f"{repo}/.", f"{repo}//", f"{link}", f"{repo}/../repo"]
    assert {canonical_root(spelling) for spelling in spellings} == {str(repo)}
    proof = judge(marker(codebasePath=str(link)), str(repo), RUNTIME)
    assert proof.valid


@pytest.mark.shows("INDEX-CANONICAL-ROOT")
def test_a_deleted_root_keeps_its_name(tmp_path: Path) -> None:
    gone = tmp_path.resolve() / "gone"
    assert canonical_root(f"{gone}/./x/..") == str(gone)
    assert canonical_root("/") == "/"


@pytest.mark.shows("INDEX-RELATIVE-KEY")
@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("a/b.py", "a/b.py"), ("./a//b.py", "a/b.py"), ("a\\b.py", "a/b.py"), ("../a", ""),
        ("a/../b", ""), ("/a", ""), ("", ""), (".", ""), ("  a ", "a"), ("a/..b", "a/..b"),
    ],
)  # fmt: skip
def test_a_key_never_leaves_its_tree(written: str, key: str) -> None:
    assert relative_key(written) == key


def test_roots_contain_by_whole_segments() -> None:
    assert within("/repo", "/repo/a")
    assert not within("/repo", "/repository")
    assert within(os.sep, "/x")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema_version": "older"}, "it has the format of another version of Holdfast"),
        (
            {"embedding_model": "small", "embedding_dimension": 64},
            "it was made with the embedding local small (64 numbers), "
            "and local plain (256 numbers) is set now",
        ),
        ({"vector_store_provider": "postgres"}, "it is kept by postgres, and embedded is set now"),
    ],
)
def test_what_does_not_fit_is_said_in_words(change: dict[str, Any], words: str) -> None:
    """The message had both fingerprints in it, as they are stored."""
    runtime = Fingerprint("local", "plain", 256, "embedded")
    assert replace(runtime, **change).differences(runtime) == words
