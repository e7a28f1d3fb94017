"""Damage at rest is noticed, never believed."""

import os
from pathlib import Path

import pytest

from holdfast.store.errors import DamagedStore
from holdfast.store.store import Store, open_store
from tests.scale import SOAKING, examples
from tests.store.bitflips import SETTINGS, SPACE, campaign, files_of, row_campaign
from tests.store.harness import Engines, Writer, patch_, replace_, set_

SEED = int(os.environ.get("HOLDFAST_SEED", "7"))


def bad(outcomes: dict[str, int]) -> list[str]:
    return [what for what in outcomes if "wrong" in what or "traceback" in what]


@pytest.mark.shows("STORE-BITFLIPS")
def test_no_flipped_bit_in_a_file_gives_a_wrong_answer() -> None:
    outcomes = campaign(25_000 if SOAKING else examples(200), SEED)
    assert not bad(outcomes), f"seed {SEED}: {outcomes}"
    assert any("refused" in what for what in outcomes)


@pytest.mark.shows("STORE-BITFLIPS", "STORE-CHECKSUMS")
def test_no_flipped_bit_in_a_row_gives_a_wrong_answer(engines: Engines) -> None:
    store = engines.open(settings=SETTINGS)
    outcomes = row_campaign(store, examples(60), SEED)
    assert not bad(outcomes), f"seed {SEED}: {outcomes}"


@pytest.mark.shows("STORE-WAL-DAMAGE")
@pytest.mark.parametrize("kept", [0, 1, 100, 2_000, 4_119])
def test_a_log_that_a_crash_cut_short_is_read_up_to_its_last_commit(
    tmp_path: Path, kept: int
) -> None:
    """Of the last frame some bytes are there and the rest are not: nothing is damaged."""
    live = tmp_path / "live"
    with open_store(live, SPACE, SETTINGS) as store:
        write = Writer(store)
        for n in range(3):
            write(set_("doc:a", n))
        files = files_of(live)
    (log,) = [name for name in files if name.endswith("-wal")]
    frame = 4096 + 24
    for missing in range(frame, 4 * frame, frame):
        cut = files[log][: len(files[log]) - missing + kept]
        for rest in (b"", bytes(frame - kept), bytes([0x5A]) * (frame - kept)):
            target = tmp_path / f"cut-{missing}-{len(rest)}-{rest[:1].hex()}"
            for path, data in {**files, log: cut + rest}.items():
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                (target / path).write_bytes(data)
            with open_store(target, SPACE, SETTINGS, create=False) as store:
                found = store.read("doc:a")
                assert found in ({"value": 1}, {"value": 2})
                assert store.verify().findings == []


@pytest.mark.shows("STORE-CHECKSUMS", "INV-39")
def test_a_damaged_head_or_snapshot_is_passed_over_and_a_revision_refused(
    engines: Engines,
) -> None:
    store = engines.open(settings=SETTINGS)
    write = Writer(store)
    write(set_("doc:a", {"n": 0}))
    for n in range(1, 8):
        write(patch_("doc:a", replace_("/value/n", n)))
    run = store.engine.writing.run
    run("UPDATE head SET seq = 3 WHERE id = 'doc:a'")
    run('UPDATE snapshot SET value = \'{"value":{"n":99}}\'')
    assert store.read("doc:a") == {"value": {"n": 7}}
    assert store.read("doc:a", seq=5) == {"value": {"n": 4}}
    assert {finding.invariant for finding in store.verify().findings} >= {"INV-39", "INV-21"}
    store.collect_garbage()
    assert store.verify().findings == []
    run("UPDATE revision SET data = '[]' WHERE id = 'doc:a' AND seq = 8")
    with pytest.raises(DamagedStore, match="the revision of doc:a at seq 8 is damaged"):
        store.read("doc:a")
    assert store.read("doc:a", seq=5) == {"value": {"n": 4}}, "what is not damaged can be read"


@pytest.mark.shows("STORE-CHECKSUMS", "INV-25")
def test_a_damaged_blob_is_refused_with_its_name(store: Store) -> None:
    hash = store.put_blob(b"bytes")
    store.engine.writing.run("UPDATE blob_store SET content_type = 'text/html'")
    with pytest.raises(DamagedStore, match=hash):
        store.blob(hash)
