"""What is kept at rest changes only together with its version."""

import hashlib
from typing import Any

import pytest

from holdfast.ids import LocalSeq, SessionId
from holdfast.store import postgres, sqlite, transfer
from holdfast.store.model import CommitKey
from holdfast.store.store import open_store
from holdfast.store.tables import SCHEMA_VERSION
from tests.store.harness import Writer, patch_, replace_, set_

# One line per version that ever left this project: never edit one, add one.
SCHEMAS = {
    3: {
        "sqlite": "5863fd7adb1e4e79",
        "postgres": "348a7ff33f5d8430",
    },
}
EXPORTS = {
    1: "18a7d48aad4aaf55",
}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.shows("STORE-FORMATS")
@pytest.mark.parametrize(
    ("engine", "schema"), [("sqlite", sqlite._SCHEMA), ("postgres", postgres._SCHEMA)]
)
def test_the_tables_change_only_with_a_new_schema_version(engine: str, schema: str) -> None:
    plain = " ".join(schema.split())
    assert SCHEMAS.get(SCHEMA_VERSION, {}).get(engine) == digest(plain), (
        f"the tables on {engine} are not those of version {SCHEMA_VERSION}. Spaces that people "
        f"have would be opened and misread. Raise SCHEMA_VERSION in tables.py, say in its "
        f"history what is new, and add this version's digest here: {digest(plain)}"
    )


@pytest.mark.shows("STORE-FORMATS")
def test_the_export_changes_only_with_a_new_format() -> None:
    clock = iter(f"2026-01-01T00:00:{second:02}.000Z" for second in range(60))
    with open_store("memory:", "did:key:format", clock=lambda: next(clock)) as store:
        store.engine.writing.run("UPDATE branch SET created_at = '2026-01-01T00:00:00.000Z'")
        write = Writer(store)
        write(set_("doc:a", {"n": 1.5, "é": [None, True]}), codeCID="bafy")
        store.create_branch("draft", by=CommitKey(SessionId("keeper"), LocalSeq(1)))
        pending: dict[str, Any] = {"id": "doc:a", "path": [], "localSeq": [1], "basisSeq": 1}
        write(patch_("doc:a", replace_("/value/n", 2)), pending=[pending], branch="draft")
        store.delete_branch("draft")
        store.put_blob(b"\0\1\2", "text/plain")
        text = "\n".join(store.export("did:key:format"))
    assert EXPORTS.get(transfer.EXPORT_FORMAT) == digest(text), (
        f"an export is not what format {transfer.EXPORT_FORMAT} is. Exports that people keep could "
        f"no longer be read, or would be read as something else. Raise EXPORT_FORMAT in "
        f"transfer.py, say in its history what is new, and add this format's digest here: "
        f"{digest(text)}"
    )
