"""Who may do what: the access list of a space, and every command held against it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.store.store import Store
from holdfast.sync.server.access import AccessMode, Right, parse_acl, right_of
from holdfast.sync.server.settings import act_now, commit_now
from tests.sync.peers import SPACE, Json, Peer, World, commit, refused, root, set_, watch

OWNER, WRITER, READER, STRANGER = "did:key:o", "did:key:w", "did:key:r", "did:key:s"
ACL = {OWNER: "OWNER", WRITER: "WRITE", READER: "READ"}


def by_name(space: str, request: Any, proof: Any) -> str:
    return str(request.authorization["principal"])


def guarded(mode: AccessMode = AccessMode.ENFORCE) -> World:
    return World(authorize=by_name, access=mode)


def enter(world: World, principal: str, session: str) -> Peer:
    peer = world.peer(capabilities=["branches", "history"])
    peer.open(session, authorization={"principal": principal})
    return peer


def list_of(acl: Json) -> Json:
    return {"op": "set", "id": f"of:{SPACE}", "value": {"value": acl}}


def founded() -> World:
    """A space whose own key has set its access list."""
    world = guarded()
    assert "ok" in enter(world, SPACE, "genesis").transact(list_of(ACL))
    return world


@pytest.mark.shows("INV-13", "SYNC-ACL-GENESIS")
def test_an_empty_space_belongs_to_its_own_key_and_starts_with_its_access_list() -> None:
    world = guarded()
    answer = world.peer().open("S", authorization={"principal": STRANGER})
    assert refused(answer)[0] == "AuthorizationError"
    peer = enter(world, SPACE, "S")
    name, message = refused(peer.transact(set_("a", 1), local_seq=1))
    assert (name, message) == (
        "AuthorizationError",
        "the first commit of a space must set its access list",
    )
    assert "ok" in peer.transact(list_of(ACL), local_seq=1)
    # From here on the list says who may write, and the space's key is not on it.
    assert refused(peer.transact(set_("a", 1), local_seq=2))[0] in (
        "AuthorizationError",
        "SessionError",
    )
    world.close()


@pytest.mark.parametrize(
    ("operations", "branch"),
    [
        ([list_of(ACL), set_("a", 1)], ""),
        ([{"op": "delete", "id": f"of:{SPACE}"}], ""),
        ([{"op": "patch", "id": f"of:{SPACE}", "patches": []}], ""),
        ([list_of({WRITER: "WRITE"})], ""),
        ([list_of({"*": "OWNER"})], ""),
        ([list_of({OWNER: "owner"})], ""),
        ([{"op": "set", "id": f"of:{SPACE}", "value": {}}], ""),
        ([list_of(ACL)], "draft"),
    ],
)
@pytest.mark.shows("INV-12", "SYNC-ACL-MUTATION")
def test_an_access_list_changes_as_a_whole_and_keeps_a_named_owner(
    operations: list[Json], branch: str
) -> None:
    world = founded()
    owner = enter(world, OWNER, "O")
    before = world.store.newest_seq()
    answer = owner.transact(*operations, branch=branch)
    assert refused(answer)[0] == "AuthorizationError"
    assert world.store.newest_seq() == before
    world.close()


READS = [
    ("graph.query", {"query": {"roots": [root("a")]}}),
    ("session.watch.set", {"watches": [watch("w", root("a"))]}),
    ("session.watch.add", {"watches": [watch("w2", root("a"))]}),
    ("session.ack", {"seenSeq": 0}),
    ("branch.list", {}),
    ("branch.diff", {"branch": ""}),
    ("history.read", {"fromSeq": 0}),
]
WRITES = [
    ("transact", {"commit": {"localSeq": 1, "operations": [set_("a", 1)]}}),
    ("branch.create", {"localSeq": 2, "name": "draft"}),
    ("branch.delete", {"localSeq": 3, "name": "draft"}),
]


@pytest.mark.parametrize(("kind", "members"), READS)
@pytest.mark.shows("SYNC-ACL-COMMANDS")
def test_a_reader_may_read(kind: str, members: Json) -> None:
    world = founded()
    assert "ok" in enter(world, READER, "R").ask(kind, **members)
    world.close()


@pytest.mark.parametrize(("kind", "members"), WRITES)
@pytest.mark.shows("SYNC-ACL-COMMANDS")
def test_a_reader_may_not_write_and_a_writer_may(kind: str, members: Json) -> None:
    world = founded()
    world.store.create_branch("other")
    if kind == "branch.delete":
        members = {**members, "name": "other"}
    answer = enter(world, READER, "R").ask(kind, **members)
    assert refused(answer)[0] == "AuthorizationError"
    assert "ok" in enter(world, WRITER, "W").ask(kind, **members)
    world.close()


@pytest.mark.shows("SYNC-ACL-COMMANDS")
def test_only_an_owner_changes_the_list() -> None:
    world = founded()
    answer = enter(world, WRITER, "W").transact(list_of({WRITER: "OWNER"}))
    assert refused(answer)[0] == "AuthorizationError"
    assert "ok" in enter(world, OWNER, "O").transact(list_of({OWNER: "OWNER", "*": "READ"}))
    assert "ok" in enter(world, STRANGER, "S").query(roots=[])
    world.close()


@pytest.mark.shows("SYNC-ACL-REVOKE")
def test_whoever_loses_the_right_to_read_loses_their_session() -> None:
    world = founded()
    reader, owner = enter(world, READER, "R"), enter(world, OWNER, "O")
    reader.watch_set(watch("w", root("secret")))
    assert "ok" in owner.transact(list_of({OWNER: "OWNER"}))
    owner.transact(set_("secret", 1))
    world.server.flush()
    (frame,) = reader.drain()
    assert (frame["type"], frame["reason"]) == ("session/revoked", "access-revoked")
    assert refused(reader.query(roots=[root("secret")]))[0] == "SessionError"
    answer = reader.open("R", token=reader.token, authorization={"principal": READER})
    assert refused(answer)[0] == "AuthorizationError"
    world.close()


@pytest.mark.shows("SYNC-ACL-MODES")
def test_observing_refuses_nothing_and_counts() -> None:
    world = guarded(AccessMode.OBSERVE)
    peer = enter(world, STRANGER, "S")
    assert "ok" in peer.transact(set_("a", 1))
    (access,) = world.server.access.values()
    assert access.would_refuse >= 2
    world.close()


@pytest.mark.shows("SYNC-ACL-MODES")
def test_without_an_access_list_everything_is_as_before(world: World) -> None:
    peer = world.peer("S")
    assert "ok" in peer.transact(list_of({"anything": 1}))
    assert "ok" in peer.transact(set_("a", 1))


@pytest.mark.shows("SYNC-ACL-RIGHTS")
def test_rights_include_the_ones_below_and_a_broken_list_leaves_the_spaces_key() -> None:
    rights = parse_acl({"value": {**ACL, "*": "READ"}})
    assert rights is not None
    assert right_of(rights, OWNER, SPACE) is Right.OWNER
    assert right_of(rights, STRANGER, SPACE) is right_of(rights, None, SPACE) is Right.READ
    assert parse_acl({"value": {"a": "ADMIN"}}) is None
    assert right_of(None, SPACE, SPACE) is Right.OWNER
    assert right_of(None, OWNER, SPACE) is Right.NONE


@pytest.mark.shows("SYNC-ACL-REVOKE")
@pytest.mark.parametrize("command", READS, ids=lambda command: command[0])
def test_a_right_that_was_taken_away_elsewhere_is_gone_with_the_next_command(
    command: tuple[str, Json],
) -> None:
    """The right was checked first and the log was read after it, so that one last look got in:
    at what was written after the right was gone."""
    world = founded()
    enter(world, OWNER, "O").transact(set_("a", "for everyone"))
    reader = enter(world, READER, "R")
    world.commit("elsewhere", 1, list_of({OWNER: "OWNER"}))
    world.commit("elsewhere", 2, set_("a", "for owners"))
    kind, members = command
    frames = reader.send(reader.command(kind, **members))
    assert "for owners" not in str(frames)
    assert frames[0]["type"] == "session/revoked"
    assert refused(frames[-1])[0] in ("AuthorizationError", "SessionError")
    world.close()


@pytest.mark.shows("SYNC-ACL-REVOKE")
def test_a_writer_whose_right_was_taken_away_elsewhere_writes_no_more() -> None:
    world = founded()
    writer = enter(world, WRITER, "W")
    world.commit("elsewhere", 1, list_of({OWNER: "OWNER"}))
    before = world.store.newest_seq()
    frames = writer.send(
        writer.command("transact", commit={"localSeq": 1, "operations": [set_("a", 1)]})
    )
    assert refused(frames[-1])[0] in ("AuthorizationError", "SessionError")
    frames = writer.send(writer.command("branch.create", localSeq=2, name="draft"))
    assert refused(frames[-1])[0] == "SessionError"
    assert world.store.newest_seq() == before
    world.close()


@pytest.mark.shows("SYNC-ACL-INSIDE")
@pytest.mark.parametrize("write", ["transact", "branch.create", "branch.delete"])
def test_a_right_that_is_taken_away_while_a_write_waits_is_gone(tmp_path: Path, write: str) -> None:
    """The list was looked at just before the commit, and a revocation could land in between."""
    waiting: list[Callable[[], None]] = []

    def later_commit(store: Store, session: str, commit: Any, tell: Any, guard: Any) -> None:
        waiting.append(lambda: commit_now(store, session, commit, tell, guard))

    def later_act(store: Store, act: Any, tell: Any) -> None:
        waiting.append(lambda: act_now(store, act, tell))

    url = str(tmp_path)
    ours = World(url, authorize=by_name, access=AccessMode.ENFORCE)
    assert "ok" in enter(ours, SPACE, "genesis").transact(list_of(ACL))
    assert "ok" in enter(ours, OWNER, "O").ask("branch.create", localSeq=1, name="old")
    late = World(
        url, authorize=by_name, access=AccessMode.ENFORCE, commit=later_commit, act=later_act
    )
    peers = []
    for principal in (WRITER, OWNER):
        peer = enter(late, principal, f"late-{principal}")
        more: Any = {
            "transact": {"commit": commit(1, set_("a", principal))},
            "branch.create": {"localSeq": 1, "name": f"draft-{principal}"},
            "branch.delete": {"localSeq": 1, "name": "old"},
        }[write]
        assert peer.send(peer.command(write, **more)) == []
        peers.append(peer)
    ours.commit("elsewhere", 1, list_of({OWNER: "OWNER", WRITER: "READ"}))
    seq = ours.store.newest_seq()
    waiting.pop(0)()
    assert ours.store.newest_seq() == seq
    name, message = refused(peers[0].drain()[-1])
    assert name == "AuthorizationError"
    assert message == f"{WRITER} has READ on {SPACE}, and this needs WRITE"
    waiting.pop(0)()
    assert ours.store.newest_seq() == seq + 1, "an owner still is one"
    assert "ok" in peers[1].drain()[-1]
    late.close()
    ours.close()


@pytest.mark.shows("SYNC-ACL-REVOKE", "INV-6")
def test_whoever_gives_their_right_away_hears_that_it_landed_before_they_are_let_go() -> None:
    """The revocation came first, and the client took back a commit that had landed."""
    world = founded()
    owner = enter(world, OWNER, "O")
    frames = owner.send(owner.command("transact", commit=commit(1, list_of({WRITER: "OWNER"}))))
    assert [frame["type"] for frame in frames] == ["response", "session/revoked"]
    assert frames[0]["ok"]["seq"] == world.store.newest_seq()
    world.close()


@pytest.mark.shows("SYNC-ACL-MODES")
def test_a_command_is_counted_once() -> None:
    """A write is judged before it is sent to the store and, where it is enforced, again there."""
    world = guarded(AccessMode.OBSERVE)
    peer = enter(world, STRANGER, "S")
    (access,) = world.server.access.values()
    before = access.would_refuse
    assert "ok" in peer.ask("branch.create", localSeq=1, name="draft")
    assert access.would_refuse == before + 1
    world.close()
