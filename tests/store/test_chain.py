"""A hash chain over commits, and signatures: history that can be trusted."""

from typing import Any

import pytest

from holdfast.store import checks, identity
from holdfast.store.errors import DamagedStore
from holdfast.store.store import Store, open_store
from tests.store.harness import Engines, Writer, commit, set_


@pytest.mark.shows("STORE-CHAIN")
def test_the_newest_hash_stands_for_the_whole_history(engines: Engines) -> None:
    def history(word: str) -> str:
        clock = iter(f"2026-01-01T00:00:{second:02}.000Z" for second in range(60))
        store = engines.open(clock=lambda: next(clock))
        write = Writer(store)
        for text in ("first", word, "third"):
            write(set_("doc:a", text))
        seq, chain = store.chain()
        assert seq == 3
        return chain

    assert history("second") == history("second")
    assert history("second") != history("another")


@pytest.mark.shows("STORE-CHAIN")
def test_the_chain_is_what_the_page_says(store: Store) -> None:
    """Computed here from the columns alone, as another program would."""
    write = Writer(store)
    for n in range(3):
        write(set_("doc:a", n))
    link = checks.GENESIS_CHAIN
    columns = "seq, branch, session_id, local_seq, original, resolution, created_at, chain"
    for row in store.engine.reading.rows(f'SELECT {columns} FROM "commit" ORDER BY seq'):
        seq, branch, session, local_seq, original, resolution, created_at, chain = row
        digest = checks.text_digest(original)
        link = checks.chain(link, seq, branch, session, local_seq, digest, resolution, created_at)
        assert link == bytes(chain)
    assert store.chain() == (3, link.hex())


EDITS = [
    "created_at = '2000-01-01T00:00:00.000Z'",
    "session_id = 'another'",
    "original = replace(original, '\"value\":1', '\"value\":2')",
    "resolution = '{\"seq\": 2}'",
    "local_seq = 99",
]


@pytest.mark.shows("STORE-CHAIN", "INV-40")
@pytest.mark.parametrize("edit", EDITS)
def test_a_changed_commit_is_named_and_not_shown(engines: Engines, edit: str) -> None:
    store = engines.open()
    write = Writer(store)
    for n in range(4):
        write(set_("doc:a", n))
    store.engine.writing.run(f'UPDATE "commit" SET {edit} WHERE seq = 2')
    assert store.broken_link() == 2
    report = store.verify()
    assert "INV-40: the commit at seq 2 does not match its hash" in map(str, report.findings)
    assert report.chain == ""
    with pytest.raises(DamagedStore, match="the commit at seq 2 is damaged"):
        store.log()
    with pytest.raises(DamagedStore):
        list(store.export())
    assert store.read("doc:a") == {"value": 3}, "what is not damaged can be read"


@pytest.fixture
def key() -> Any:
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def did_of(key: Any) -> str:
    return identity.did_of(key.public_key().public_bytes_raw())


def by_key(key: Any, session: str, message: dict[str, Any]) -> dict[str, Any]:
    return identity.sign_commit("did:key:space", session, message, did_of(key), key.sign)


@pytest.mark.shows("STORE-SIGNED", "INV-41")
def test_a_signed_commit_is_stored_exported_and_verified(store: Store, key: Any) -> None:
    message = by_key(key, "s", commit(1, set_("doc:a", 1)))
    store.transact("s", message)
    store.transact("s", commit(2, set_("doc:a", 2)))
    report = store.verify()
    assert (report.findings, report.signed) == ([], 1)
    with open_store("memory:", "did:key:copy") as copy:
        copy.import_lines(store.export())
        assert (copy.verify().findings, copy.verify().signed) == ([], 1)


@pytest.mark.shows("STORE-SIGNED", "INV-41")
def test_a_commit_whose_signature_does_not_hold_is_named(store: Store, key: Any) -> None:
    good = by_key(key, "s", commit(1, set_("doc:a", 1)))
    store.transact("s", {**good, "operations": [set_("doc:a", 2)]})
    store.transact("other", by_key(key, "s", commit(1, set_("doc:a", 3))))
    store.transact("s", commit(2, set_("doc:a", 4), signature="nonsense"))
    found = [str(finding) for finding in store.verify().findings]
    assert found == [
        f"INV-41: the signature of the commit at seq 1 was not made by {did_of(key)}",
        f"INV-41: the signature of the commit at seq 2 was not made by {did_of(key)}",
        "INV-41: the signature of the commit at seq 3 is not {iss, sub, sig}",
    ]


@pytest.mark.shows("STORE-SIGNED")
def test_a_signature_holds_for_one_session_space_and_key(key: Any) -> None:
    good = by_key(key, "s", commit(1, set_("doc:a", 1)))
    problem = identity.commit_signature_problem
    assert problem("s", good) == problem("s", good, "did:key:space", did_of(key)) == ""
    assert "not made by" in problem("another", good)
    assert problem("s", good, "did:key:elsewhere") == "is for the space did:key:space"
    assert problem("s", good, None, "did:key:zother") == f"is by {did_of(key)}"
