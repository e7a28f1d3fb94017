"""The team's generation with a reader's own changes on top: the same as an index of its own."""

from __future__ import annotations

import argparse
import os
import random
from itertools import count
from mmap import mmap
from pathlib import Path
from typing import Any

import apsw
import pytest

from holdfast.cli import index as index_command
from holdfast.files.identity import RepositoryIdentity, Unidentified
from holdfast.index.answers import SymbolRef
from holdfast.index.calls.program import MemoryProgram
from holdfast.index.calls.stored_program import StoredProgram
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.gate import Open
from holdfast.index.shared import generation as shared
from holdfast.index.shared import publish
from holdfast.index.shared.postgres import PostgresShared
from holdfast.index.shared.rows import CHECK_BYTES, Seal
from holdfast.index.shared.store import SharedStore, SharedUnavailable
from holdfast.index.shared.work import CommittedBlobs, SharedIndex
from holdfast.index.tools.calls import call_graph
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.manage.publish import publish_index
from holdfast.index.tools.outline import file_outline
from holdfast.index.tools.search import search_code
from tests.files.hostile_git import git
from tests.index.shared.team import Machine, MemoryRows, clone, made_repository
from tests.postgres import PostgresServer
from tests.scale import SOAKING, first_in_quick, size

QUERIES = (
    "add item to the cart",
    "total_price",
    "price_of",
    "part3",
    "how a cart is paid for",
    "re:def part[0-9]",
    '"return add_item"',
    "lookup kind:function",
    "changed here",
)
numbers = count()


def joined(home: Path, store: SharedStore) -> Machine:
    machine = Machine(home, None)
    machine.index.join_team(home / "index" / "team", SharedIndex(store, Seal()))
    return machine


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return made_repository(tmp_path / "shop")


def published(tmp_path: Path, repository: Path, store: SharedStore) -> Machine:
    giver = joined(tmp_path / f"giver{next(numbers)}", store)
    giver.create(repository)
    answer = publish_index(giver.index, str(repository))
    assert answer.status == "ok", answer.human_text
    return giver


def answers(index: CodeIndex, root: Path) -> Any:
    """What the tools answer, without times and notes about where the index is from."""
    found: list[Any] = []
    for query in QUERIES:
        wire = search_code(index, str(root), query, scope="mixed").to_wire()
        found.append(
            [{k: v for k, v in one.items() if k != "indexedAt"} for one in wire["results"]]
        )
    for path in sorted(str(p.relative_to(root)) for p in root.rglob("*.py")):
        outline = file_outline(index, str(root), path).to_wire()
        found.append(outline.get("outline"))
        for symbol in (outline.get("outline") or {}).get("symbols", []):
            ref = SymbolRef(file=path, symbol_id=symbol["symbolId"])
            graph = call_graph(index, str(root), ref).to_wire()
            found.append({name: graph.get(name) for name in ("nodes", "edges", "status")})
    return found


def edit(root: Path, dice: random.Random) -> None:
    """A few changed, added and removed files."""
    files = sorted(root.rglob("*.py"))
    for _ in range(dice.randrange(4)):
        file = dice.choice(files)
        if not file.exists():
            continue
        match dice.randrange(4):
            case 0:
                file.unlink()
            case 1:
                lines = file.read_text().splitlines()
                lines.insert(dice.randrange(len(lines) + 1), "# changed here")
                file.write_text("\n".join(lines) + "\n")
            case 2:
                name = f"new{dice.randrange(100)}"
                text = (
                    f"from cart import total_price\n\ndef {name}(c):\n    return total_price(c)\n"
                )
                (file.parent / f"{name}.py").write_text(text)
            case _:
                file.rename(file.with_name(f"moved_{file.name}"))


@pytest.mark.shows("TEAM-GENERATION-SAME")
@pytest.mark.parametrize("seed", range(300 if SOAKING else size(4, 1)))
def test_random_edits_give_the_answers_of_a_local_index(
    tmp_path: Path, repository: Path, seed: int
) -> None:
    store = MemoryRows()
    published(tmp_path, repository, store)
    dice = random.Random(seed)
    there = clone(repository, tmp_path / "there")
    edit(there, dice)
    if seed % 2:
        # Committed files differ from the team's generation, and are not being edited.
        git(there, "add", "-A")
        git(there, "commit", "-qm", "later", "--allow-empty")
    member = joined(tmp_path / "member", store)
    text = member.create(there)
    assert "uses the generation of commit" in text, (seed, text)
    assert member.extracted == [], seed
    edit(there, dice)
    twin = Machine(tmp_path / "twin", None)
    twin.create(there)
    for mine, theirs in zip(answers(member.index, there), answers(twin.index, there), strict=True):
        assert mine == theirs, seed
    assert program_kinds(member.index) == {StoredProgram}, "not the facts of all files"


@pytest.mark.shows("TEAM-GENERATION-PUBLISHED")
def test_words_that_were_never_committed_are_not_published(
    tmp_path: Path, repository: Path
) -> None:
    """The segments of an index keep the rows of changed files until they are merged."""
    store = MemoryRows()
    giver = joined(tmp_path / "giver", store)
    part, alone = repository / "src/part1.py", repository / "src/alone.py"
    committed = part.read_text()
    part.write_text(committed + "\n\ndef zebrafish(x):\n    return x\n")
    alone.write_text("def quokka(x):\n    return x\n")
    giver.create(repository)
    part.write_text(committed)
    alone.unlink()
    assert manage_index(giver.index, "sync", str(repository)).status == "ok"
    answer = publish_index(giver.index, str(repository))
    assert answer.status == "ok", answer.human_text
    assert any(b"additem" in row for row in store.rows.values()), "words are stored as they are"
    for word in (b"zebrafish", b"quokka"):
        assert not [key for key, row in store.rows.items() if word in row], word
    member, twin = joined(tmp_path / "member", store), Machine(tmp_path / "twin", None)
    there = clone(repository, tmp_path / "there")
    assert "uses the generation of commit" in member.create(there)
    twin.create(there)
    assert answers(member.index, there) == answers(twin.index, there)


def program_kinds(index: CodeIndex) -> set[type]:
    """How the last questions about calls were answered."""
    return {type(c.program.resolver.program) for c in index.programs._programs.values()}


def every_call(index: CodeIndex, root: Path) -> list[Any]:
    """The call graphs of the symbols of one file."""
    found = []
    outline = file_outline(index, str(root), "src/cart.py").to_wire()
    for symbol in outline["outline"]["symbols"]:
        ref = SymbolRef(file="src/cart.py", symbol_id=symbol["symbolId"])
        graph = call_graph(index, str(root), ref).to_wire()
        found.append({name: graph.get(name) for name in ("nodes", "edges", "status")})
    return found


@pytest.mark.shows("TEAM-GENERATION-LINKS")
def test_links_of_what_was_never_committed_are_not_published(
    tmp_path: Path, repository: Path
) -> None:
    store = MemoryRows()
    giver = joined(tmp_path / "giver", store)
    secret = repository / "src" / "draft.py"
    secret.write_text("def never_committed(x):\n    return x\n")
    giver.create(repository)
    secret.unlink()
    assert manage_index(giver.index, "sync", str(repository)).status == "ok"
    with giver.index.backend.reader(str(repository)) as reader:
        checks = {int(c) for one in reader.links({}).values() for c in one.checks}
        assert len(checks) > len(reader.snapshot().entries), "the draft is still in the segment"
    assert publish_index(giver.index, str(repository)).status == "ok"
    member = joined(tmp_path / "member", store)
    there = clone(repository, tmp_path / "there")
    member.create(there)
    with member.index.backend.reader(str(there)) as reader:
        assert reader.links({}) == {}
    assert every_call(member.index, there) == every_call(giver.index, repository)


@pytest.mark.shows("TEAM-GENERATION-LINKS")
@pytest.mark.parametrize("room", [True, False])
def test_the_teams_links_are_in_memory_only_if_there_is_no_room_for_a_file(
    tmp_path: Path, repository: Path, *, room: bool
) -> None:
    store = MemoryRows()
    giver = published(tmp_path, repository, store)
    there = clone(repository, tmp_path / "there")
    member = joined(tmp_path / "member", store)
    member.create(there)
    if not room:
        assert member.index.team is not None
        member.index.team.cache._directory = tmp_path / "nowhere"
    with member.index.backend.reader(str(there)) as reader:
        kinds = {type(one.data) for one in reader.links({}).values()}
    assert kinds == {mmap if room else bytes}
    assert every_call(member.index, there) == every_call(giver.index, repository)


@pytest.mark.shows("TEAM-GENERATION-LINKS")
@pytest.mark.parametrize(
    "how", first_in_quick(["none", "damaged list", "damaged part", "wrong part"])
)
def test_without_the_teams_links_calls_are_the_same(
    tmp_path: Path, repository: Path, how: str
) -> None:
    """A team whose generation an older version published has none."""
    store = MemoryRows()
    giver = published(tmp_path, repository, store)
    wanted = every_call(giver.index, repository)
    there = clone(repository, tmp_path / "there")
    member = joined(tmp_path / "member", store)
    member.create(there)
    assert member.index.team is not None
    pointer = member.index.team.pointer(str(there))
    assert pointer is not None
    manifest = member.index.team.manifest(pointer.key)
    assert manifest is not None
    listed = shared.links_key(manifest.files)
    (one,) = shared.links_of(store.rows[listed][CHECK_BYTES:])
    (part,) = shared.part_keys("links", one.digest, one.parts)
    if how == "none":
        del store.rows[listed]
    elif how == "damaged list":
        store.rows[listed] = store.rows[listed][:-1] + b"?"
    elif how == "damaged part":
        store.rows[part] = store.rows[part][:-1] + b"?"
    else:
        store.rows[part] = Seal().close(part, b"something else")
    assert every_call(member.index, there) == wanted
    assert program_kinds(member.index) == {MemoryProgram}


@pytest.mark.shows("TEAM-GENERATION-TAKEN")
def test_on_a_real_server_nothing_is_built_and_the_commit_is_named(
    tmp_path: Path, repository: Path, postgres: PostgresServer
) -> None:
    store = PostgresShared(postgres.url, f"team_{next(numbers)}")
    published(tmp_path, repository, store)
    there = clone(repository, tmp_path / "there")
    (there / "src" / "cart.py").write_text("def add_item(cart, item):\n    return item\n")
    (there / "src" / "prices.py").unlink()
    (there / "src" / "fresh.py").write_text("def brand_new():\n    return 1\n")
    member = joined(tmp_path / "member", store)
    created = manage_index(member.index, "create", str(there))
    head = member.index.identify(str(there))
    assert not isinstance(head, Unidentified)
    commit = head.head[:12]
    assert f"generation of commit {commit} of example.org/team/shop; 3 files differ here" in (
        created.human_text
    )
    assert member.extracted == []
    assert list((tmp_path / "member" / "index").glob("roots/*")) == []
    answer = search_code(member.index, str(there), "brand_new")
    assert answer.results[0].file == "src/fresh.py"
    note = f"from the team's index of commit {commit}; 3 files differ here"
    assert f"TEAM_GENERATION:{note}" in answer.warnings
    status = manage_index(member.index, "status", str(there))
    assert f"Team: uses the generation of commit {commit}" in status.human_text


@pytest.mark.shows("TEAM-GENERATION-TAKEN")
def test_the_nearest_commit_before_is_used_and_a_sync_follows(
    tmp_path: Path, repository: Path
) -> None:
    store = MemoryRows()
    giver = published(tmp_path, repository, store)
    there = clone(repository, tmp_path / "there")
    (there / "src" / "later.py").write_text("def later():\n    return 1\n")
    git(there, "add", ".")
    git(there, "commit", "-qm", "later")
    member = joined(tmp_path / "member", store)
    created = manage_index(member.index, "create", str(there))
    assert "1 commit before yours; 1 file differs here" in created.human_text
    git(repository, "pull", "-q", str(there), "main")
    manage_index(giver.index, "sync", str(repository))
    assert publish_index(giver.index, str(repository)).status == "ok"
    synced = manage_index(member.index, "sync", str(there))
    assert "no file differs here" in synced.human_text
    assert member.extracted == []
    again = manage_index(member.index, "create", str(there))
    assert again.status == "blocked"
    whole = manage_index(member.index, "reindex", str(there))
    assert whole.status == "ok"
    assert search_code(member.index, str(there), "later").warnings == ()


@pytest.mark.long
@pytest.mark.shows("TEAM-GENERATION-TAKEN")
def test_a_tree_that_differs_much_is_built(tmp_path: Path, repository: Path) -> None:
    store = MemoryRows()
    published(tmp_path, repository, store)
    there = clone(repository, tmp_path / "there")
    for number in range(201):
        (there / f"n{number}.py").write_text(f"def n{number}(): ...\n")
    member = joined(tmp_path / "member", store)
    created = manage_index(member.index, "create", str(there))
    assert "201 files differ" in created.human_text
    assert "Started background indexing" in created.human_text
    assert len(member.extracted) == 201  # the others are the team's work


@pytest.mark.shows("TEAM-GENERATION-CHECKED")
def test_with_the_team_away_what_was_taken_still_answers(tmp_path: Path, repository: Path) -> None:
    store = MemoryRows()
    published(tmp_path, repository, store)
    there = clone(repository, tmp_path / "there")
    member = joined(tmp_path / "member", store)
    member.create(there)
    store.fails = "no route to host"
    twin = Machine(tmp_path / "twin", None)
    twin.create(there)
    other = joined(tmp_path / "member", store)
    for mine, theirs in zip(answers(other.index, there), answers(twin.index, there), strict=True):
        assert mine == theirs
    synced = manage_index(other.index, "sync", str(there))
    assert "keeps the team's generation: memory cannot be used now: no route" in synced.human_text
    assert [warning.code for warning in synced.warnings] == ["SHARED_INDEX_AWAY"]
    status = manage_index(other.index, "status", str(there)).human_text
    assert "Team: uses the generation of commit" in status
    assert "memory cannot be used now, so this machine works alone: no route to host" in status


class Frozen(MemoryRows):
    """Counts the requests that would have waited for their deadline, from the nth on."""

    def __init__(self, rows: dict[bytes, bytes], answered: int = 0) -> None:
        super().__init__()
        self.rows, self.answered, self.waited = rows, answered, 0

    def _maybe_fail(self) -> None:
        self.answered -= 1
        if self.answered < 0:
            self.waited += 1
            raise SharedUnavailable("timed out", "check HOLDFAST_INDEX_URL")


@pytest.mark.shows("TEAM-WORK-ALONE")
@pytest.mark.parametrize("answered", range(4))
def test_a_create_waits_only_once_for_a_server_that_is_frozen(
    tmp_path: Path, repository: Path, answered: int
) -> None:
    """First for its generation, then for its work on files: each costs a whole deadline."""
    store = MemoryRows()
    published(tmp_path, repository, store)
    frozen = Frozen(store.rows, answered)
    member = joined(tmp_path / "member", frozen)
    there = clone(repository, tmp_path / "there")
    created = manage_index(member.index, "create", str(there))
    assert frozen.waited == 1
    if answered < 3:  # Later it has all that an index needs.
        assert "The team's generation is not used" in created.human_text
        status = manage_index(member.index, "status", str(there))
        assert "works alone: timed out (check HOLDFAST_INDEX_URL)" in status.human_text


@pytest.mark.shows("TEAM-WORK-ALONE")
def test_a_sync_that_has_to_build_waits_only_once_for_a_server_that_is_frozen(
    tmp_path: Path, repository: Path
) -> None:
    store = MemoryRows()
    published(tmp_path, repository, store)
    there = clone(repository, tmp_path / "there")
    joined(tmp_path / "member", store).create(there)
    (there / "new.py").write_text("def new():\n    return 1\n")
    git(there, "add", ".")
    git(there, "commit", "-qm", "another head")
    frozen = Frozen(store.rows)
    member = joined(tmp_path / "member", frozen)
    synced = manage_index(member.index, "sync", str(there))
    assert frozen.waited == 1
    assert [warning.code for warning in synced.warnings] == ["SHARED_INDEX_AWAY"]
    # The next run asks again.
    frozen.answered = 99
    manage_index(member.index, "reindex", str(there))
    assert "works alone" not in manage_index(member.index, "status", str(there)).human_text


def test_a_server_that_failed_a_moment_ago_is_used_when_it_answers(
    tmp_path: Path, repository: Path
) -> None:
    """For half a minute after a failure the manifest was called damaged, and the tree was built."""
    store = MemoryRows()
    published(tmp_path, repository, store)
    there = clone(repository, tmp_path / "there")
    member = joined(tmp_path / "member", store)
    assert member.index.team is not None
    store.fails = "no route to host"
    member.index.team.cache.get([b"k" * 32])
    store.fails = ""
    answer = manage_index(member.index, "create", str(there))
    assert "Using the team's generation" in answer.human_text
    assert not member.extracted


@pytest.mark.shows("TEAM-GENERATION-CHECKED")
def test_what_could_not_be_read_is_not_verified(
    tmp_path: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`index verify` said that every checksum agrees, and no search could answer."""
    store = MemoryRows()
    published(tmp_path, repository, store)
    there = clone(repository, tmp_path / "there")
    member = joined(tmp_path / "member", store)
    member.create(there)
    assert member.index.team is not None
    pointer = member.index.team.pointer(str(there))
    assert pointer is not None
    rows = apsw.Connection(str(tmp_path / "member" / "index" / "team" / "rows.sqlite"))
    # The result of || is a text, as a damaged page may have one: it was decoded, with an error.
    rows.execute("UPDATE work SET data = x'07' || data WHERE key <> ?", (pointer.key,))
    rows.close()
    store.fails = "down"
    again = joined(tmp_path / "member", store)
    for more in ([], ["--json"]):
        parser = argparse.ArgumentParser()
        index_command.configure(parser)
        arguments = parser.parse_args(["verify", str(there), *more])
        assert index_command._verify(again.index, arguments) != 0
    said = capsys.readouterr().out
    assert "Not verified, because not all data could be read: a segment of the team's" in said
    assert '"verified": false' in said
    assert "every checksum agrees" not in said


@pytest.mark.shows("TEAM-GENERATION-CHECKED")
def test_any_damaged_row_of_a_generation_is_noticed(tmp_path: Path, repository: Path) -> None:
    store = MemoryRows()
    published(tmp_path, repository, store)
    sound = dict(store.rows)
    there = clone(repository, tmp_path / "there")
    twin = Machine(tmp_path / "twin", None)
    twin.create(there)
    expected = [twin.search(there, query) for query in QUERIES[:4]]
    seed = 3
    dice = random.Random(seed)
    for number, key in enumerate(dice.sample(sorted(sound), 12)[: size(12, 4)]):
        at = dice.randrange(len(sound[key]))
        damaged = bytearray(sound[key])
        damaged[at] ^= 1
        store.rows = {**sound, key: bytes(damaged)}
        member = joined(tmp_path / f"member{number}", store)
        member.create(there)
        assert [member.search(there, query) for query in QUERIES[:4]] == expected, (seed, key)


@pytest.mark.shows("TEAM-GENERATION-PUBLISHED")
@pytest.mark.parametrize("how", ["damaged", "another secret"])
def test_publishing_again_replaces_damaged_rows(tmp_path: Path, repository: Path, how: str) -> None:
    """They stayed damaged for good, and every member built the tree."""
    store = MemoryRows()
    giver = published(tmp_path, repository, store)
    secret = ""
    if how == "damaged":
        store.rows = {key: data[:-1] + bytes([data[-1] ^ 1]) for key, data in store.rows.items()}
    else:
        secret = "of the team"
        assert giver.index.shared is not None
        giver.index.shared = SharedIndex(store, Seal(secret))
    answer = publish_index(giver.index, str(repository)).human_text
    assert "damaged rows replaced" in answer
    assert "replaced" not in publish_index(giver.index, str(repository)).human_text
    there = clone(repository, tmp_path / "there")
    member = Machine(tmp_path / "member", None)
    member.index.join_team(tmp_path / "member" / "team", SharedIndex(store, Seal(secret)))
    assert "uses the generation of commit" in member.create(there)
    mine, theirs = (
        [(one["file"], one["score"]) for one in machine.search(root, "part3")]
        for machine, root in ((member, there), (giver, repository))
    )
    assert mine == theirs
    assert member.extracted == []


@pytest.mark.shows("TEAM-GENERATION-PUBLISHED")
def test_a_machine_that_uses_the_commit_before_publishes_the_next_one(
    tmp_path: Path, repository: Path
) -> None:
    """Otherwise create and publish in fresh containers would stay at the first commit."""
    store = MemoryRows()
    published(tmp_path, repository, store)
    (repository / "src" / "later.py").write_text("def later(x):\n    return x\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "later")
    container = joined(tmp_path / "container", store)
    assert "uses the generation of commit" in container.create(repository)
    answer = publish_index(container.index, str(repository))
    assert answer.status == "ok", answer.human_text
    assert answer.human_text.startswith("Published commit"), answer.human_text
    assert container.extracted == ["src/later.py"]
    there = clone(repository, tmp_path / "there")
    member = joined(tmp_path / "member", store)
    assert "no file differs here" in member.create(there)
    again = publish_index(member.index, str(there)).human_text
    assert "nothing to give" in again


@pytest.mark.shows("TEAM-GENERATION-PUBLISHED")
@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_edits_that_git_was_told_to_overlook_are_not_published(
    tmp_path: Path, repository: Path, flag: str
) -> None:
    git(repository, "update-index", flag, "src/cart.py", "src/part1.py")
    cart = repository / "src" / "cart.py"
    cart.write_text(cart.read_text() + "\n\ndef never_committed(x):\n    return x\n")
    store = MemoryRows()
    giver = joined(tmp_path / "giver", store)
    giver.create(repository)
    before = dict(store.rows)
    answer = publish_index(giver.index, str(repository))
    assert answer.status == "error"
    assert "1 file of the index, first 'src/cart.py'" in answer.human_text
    assert store.rows == before


@pytest.mark.shows("TEAM-GENERATION-PUBLISHED")
def test_files_of_a_submodule_are_named_as_such(tmp_path: Path, repository: Path) -> None:
    library = made_repository(repository / "vendor" / "lib", {"lib.py": "def lib(): ...\n"})
    git(repository, "add", "vendor/lib")
    git(repository, "commit", "-qm", "a library")
    assert (library / ".git").is_dir()
    giver = joined(tmp_path / "giver", MemoryRows())
    giver.create(repository)
    text = publish_index(giver.index, str(repository)).human_text
    assert "first 'vendor/lib/lib.py', is not as in commit" in text
    assert "in the submodule or repository 'vendor/lib' of its own" in text
    assert "publish from a clone without submodules" in text


@pytest.mark.shows("TEAM-GENERATION-PUBLISHED")
def test_only_a_commit_is_published(tmp_path: Path, repository: Path) -> None:
    store = MemoryRows()
    giver = joined(tmp_path / "giver", store)

    def said() -> str:
        return publish_index(giver.index, str(repository)).human_text

    assert "is not indexed" in said()
    (repository / "src" / "draft.py").write_text("def draft(): ...\n")
    giver.create(repository)
    assert "1 file of the index, first 'src/draft.py', is not as in commit" in said()
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "draft")
    assert said().startswith("Published commit")
    assert said().startswith("The team already has commit")
    (repository / "src" / "draft.py").write_text("def draft(): return 2\n")
    assert "1 file changed since the index was made" in said()
    alone = Machine(tmp_path / "alone", None)
    alone.create(repository)
    assert "set HOLDFAST_INDEX_URL" in publish_index(alone.index, str(repository)).human_text


@pytest.mark.shows("TEAM-GENERATION-PUBLISHED")
def test_a_file_that_became_a_pipe_meanwhile_is_not_as_in_the_commit(
    tmp_path: Path, repository: Path
) -> None:
    """After the check for changed files; publishing waited for the pipe."""
    giver = joined(tmp_path / "giver", MemoryRows())
    giver.create(repository)
    (repository / "src" / "part1.py").unlink()
    os.mkfifo(repository / "src" / "part1.py")
    with giver.index.backend.reader(str(repository)) as reader:
        blobs = CommittedBlobs(repository)
        assert publish.uncommitted(repository, reader, blobs) == ["src/part1.py"]


@pytest.mark.shows("TEAM-GENERATION-PUBLISHED")
def test_a_commit_that_was_left_meanwhile_is_not_published_with_the_files_of_the_next(
    tmp_path: Path, repository: Path
) -> None:
    """Another process may check out another commit and bring the index up to date."""
    store = MemoryRows()
    giver = joined(tmp_path / "giver", store)
    giver.create(repository)
    identity = giver.index.identify(str(repository))
    assert isinstance(identity, RepositoryIdentity)
    (repository / "src" / "later.py").write_text("def later():\n    return 1\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "later")
    assert manage_index(giver.index, "sync", str(repository)).status == "ok"
    gate = giver.index.verified_gate(giver.index.root_of(str(repository))[1])
    assert isinstance(gate, Open)
    done = publish.publish(giver.index, gate, identity)
    assert f"'src/later.py', is not as in commit {identity.head[:12]}" in done.sentence()


@pytest.mark.shows("TEAM-GENERATION-PUBLISHED")
@pytest.mark.parametrize("how", ["sparse", "removed"])
def test_a_part_of_a_commit_does_not_replace_the_whole_of_it(
    tmp_path: Path, repository: Path, how: str
) -> None:
    store = MemoryRows()
    published(tmp_path, repository, store)
    part = clone(repository, tmp_path / "part")
    if how == "sparse":
        git(part, "sparse-checkout", "set", "--no-cone", "/src/part1.py")
    else:
        (part / "src" / "cart.py").unlink()
    giver = joined(tmp_path / "part-giver", store)
    assert manage_index(giver.index, "create", str(part), force=True).status == "ok"
    said = publish_index(giver.index, str(part)).human_text
    assert "not in the work tree" in said
    there = clone(repository, tmp_path / "there")
    member = joined(tmp_path / "member", store)
    assert "no file differs here" in member.create(there)


@pytest.mark.shows("TEAM-IDENTITY-BAD", "TEAM-GENERATION-PUBLISHED")
def test_another_repository_of_the_same_name_is_refused(tmp_path: Path, repository: Path) -> None:
    store = MemoryRows()
    published(tmp_path, repository, store)
    other = made_repository(tmp_path / "other", {"a.py": "def other(): ...\n"})
    member = joined(tmp_path / "member", store)
    created = manage_index(member.index, "create", str(other))
    assert "has none of example.org/team/shop for commit" in created.human_text
    refused = publish_index(member.index, str(other)).human_text
    assert "another repository, or a rewritten history" in refused
    assert "--accept-history" in refused
    accepted = publish_index(member.index, str(other), accept_history=True)
    assert accepted.status == "ok"
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text("def a(): ...\n")
    text = manage_index(member.index, "create", str(plain)).human_text
    assert "it is not in a git repository" in text
    assert "Started background indexing" in text


@pytest.mark.shows("TEAM-GENERATION-TAKEN")
def test_a_shallow_clone_uses_the_generation_of_its_commit(
    tmp_path: Path, repository: Path
) -> None:
    """Its history ends early, so nothing before its commit is asked for."""
    store = MemoryRows()
    (repository / "src" / "late.py").write_text("def late(x):\n    return x\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "late")
    published(tmp_path, repository, store)
    there = tmp_path / "there"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", str(there))
    git(there, "remote", "set-url", "origin", "git@example.org:team/shop.git")
    member = joined(tmp_path / "member", store)
    assert "uses the generation of commit" in member.create(there)
    assert member.extracted == []
    assert member.search(there, "late")[0]["file"] == "src/late.py"


@pytest.mark.shows("TEAM-GENERATION-TAKEN")
def test_a_repository_without_commits_is_indexed_alone_and_not_published(tmp_path: Path) -> None:
    store = MemoryRows()
    root = tmp_path / "new"
    (root / "src").mkdir(parents=True)
    (root / "src" / "first.py").write_text("def very_first(x):\n    return x\n")
    git(root, "init", "-q", "-b", "main")
    member = joined(tmp_path / "member", store)
    member.create(root)
    assert member.search(root, "very_first")[0]["file"] == "src/first.py"
    answer = publish_index(member.index, str(root))
    assert answer.status != "ok"
    assert "commit" in answer.human_text
    assert store.rows == {}
