"""Reads as an agent sees them: first, again, changed, bypassed, refused."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.errors import ReadingError
from holdfast.files import secrets
from holdfast.reading import disk, sensitive
from holdfast.reading import meta as metas
from holdfast.reading.answer import Policy
from holdfast.reading.disk import read_once
from holdfast.reading.errors import Aborted, BadArgument, BadRange, BeyondEnd, Unreadable
from holdfast.reading.events import Printed
from holdfast.reading.hosts.claude_code import ClaudeCodeLog
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.objects import digest_of
from holdfast.reading.paths import Request
from holdfast.reading.reader import Reader, Settings
from holdfast.reading.scope import WHOLE, Lines
from holdfast.reading.sensitive import Sensitive
from holdfast.reading.session_log import UnreadableLog
from holdfast.replay.writers import SubagentWriter
from tests.reading.desk import Desk, numbered, reason
from tests.reading.searches import search, search_result

CODE = numbered(300, "    value = compute")


@pytest.mark.shows("READ-MODE-full", "READ-R-no_base_hash", "READ-T-TOOL", "READ-SC-1")
def test_the_first_read_is_the_baseline_with_metadata(desk: Desk) -> None:
    desk.write("a.txt", "alpha\nbeta\ngamma")
    answer = desk.read("a.txt")
    assert answer.text == "alpha\nbeta\ngamma"
    assert (answer.mode, reason(answer)) == ("full", "no_base_hash")
    assert answer.content == [{"type": "text", "text": answer.text}]
    assert answer.details is not None
    assert set(answer.details) == {"readcache"}


@pytest.mark.shows("READ-MODE-unchanged", "READ-R-hash_match", "READ-MARKERS", "READ-DEC-12")
def test_the_second_read_is_one_line(desk: Desk) -> None:
    desk.write("a.txt", "alpha\nbeta\ngamma")
    desk.read("a.txt")
    answer = desk.read("a.txt")
    assert answer.text == "[readcache: unchanged, 3 lines]"
    assert (answer.mode, reason(answer)) == ("unchanged", "hash_match")


@pytest.mark.shows("READ-SUFFIX", "READ-T-TOOL")
def test_a_range_in_the_path_reads_those_lines(desk: Desk) -> None:
    desk.write("a.txt", numbered(10))
    answer = desk.read("a.txt:2-4")
    assert answer.text.startswith("line 2\nline 3\nline 4\n\n[6 more lines")
    assert answer.meta is not None
    assert answer.meta.scope == Lines(2, 4)


@pytest.mark.shows("READ-R-bypass_cache", "READ-DEC-10", "READ-T-TOOL")
def test_bypass_gives_the_text_of_a_whole_file(desk: Desk) -> None:
    desk.write("a.txt", numbered(10))
    desk.read("a.txt")
    answer = desk.read("a.txt", bypass_cache=True)
    assert (answer.text, answer.mode, reason(answer)) == (numbered(10), "full", "bypass_cache")
    assert answer.meta is not None
    assert answer.meta.base is None


@pytest.mark.shows("READ-R-bypass_cache", "READ-T-TOOL")
def test_bypass_gives_the_text_of_a_range_and_then_it_is_short_again(desk: Desk) -> None:
    desk.write("a.txt", numbered(10))
    desk.read("a.txt:2-4")
    assert desk.read("a.txt:2-4", bypass_cache=True).mode == "full"
    assert desk.read("a.txt:2-4").mode == "unchanged_range"


@pytest.mark.shows("READ-MODE-diff", "READ-R-diff_emitted", "READ-T-TOOL")
def test_a_small_change_in_a_long_file_is_a_diff(desk: Desk) -> None:
    desk.write("a.py", CODE)
    desk.read("a.py")
    desk.write("a.py", CODE.replace("compute 150", "recompute 150"))
    answer = desk.read("a.py")
    assert answer.text.startswith("[readcache: 1 lines changed of 300]\n--- a/a.py\t\n")
    assert (answer.mode, reason(answer)) == ("diff", "diff_emitted")
    assert answer.meta is not None
    assert answer.meta.why is not None
    assert answer.meta.why.diff_changed == 1
    assert answer.meta.why.diff_bytes == len(answer.text.split("\n", 1)[1])
    assert desk.read("a.py").mode == "unchanged"


@pytest.mark.shows(
    "READ-MODE-baseline_fallback", "READ-R-diff_file_too_large_bytes", "READ-EDGE-15", "READ-T-TOOL"
)
def test_a_file_too_big_for_a_diff_falls_back(desk: Desk) -> None:
    """Trust in such a file comes from lines read in pieces and then a whole-file anchor."""
    row = "x" * 120
    small = "\n".join([row] * 200)
    desk.write("big.txt", small)
    desk.read("big.txt")
    desk.write("big.txt", "\n".join([row] * 20_000))
    answer = desk.read("big.txt")
    assert (answer.mode, reason(answer)) == ("baseline_fallback", "diff_file_too_large_bytes")


@pytest.mark.shows("READ-R-diff_file_too_large_lines")
def test_a_file_of_too_many_lines_falls_back(desk: Desk) -> None:
    desk.write("big.txt", numbered(200))
    desk.read("big.txt")
    desk.write("big.txt", numbered(12_001))
    assert reason(desk.read("big.txt")) == "diff_file_too_large_lines"


@pytest.mark.shows("READ-R-diff_not_useful")
def test_a_rewritten_file_falls_back(desk: Desk) -> None:
    desk.write("a.txt", numbered(30))
    desk.read("a.txt")
    desk.write("a.txt", numbered(30, "other"))
    answer = desk.read("a.txt")
    assert (answer.text, reason(answer)) == (numbered(30, "other"), "diff_not_useful")


@pytest.mark.shows("READ-R-diff_unavailable_or_empty", "READ-X-07")
def test_a_byte_order_mark_alone_makes_no_diff(desk: Desk) -> None:
    desk.write("a.txt", numbered(30))
    desk.read("a.txt")
    desk.write("a.txt", "\ufeff" + numbered(30))
    answer = desk.read("a.txt")
    assert reason(answer) == "diff_unavailable_or_empty"
    assert answer.text.startswith("\ufeffline 1")


@pytest.mark.shows("READ-X-07")
def test_a_byte_order_mark_is_part_of_the_first_line(desk: Desk) -> None:
    """It is shown and hashed, and was left out where lines are compared: lines 1-3 were
    *unchanged* without the mark they now begin with, and a diff led to a text without it."""
    desk.write("a.txt", numbered(30))
    desk.read("a.txt")
    desk.write("a.txt", "\ufeff" + numbered(30))
    assert not desk.reader.holds(str(desk.cwd / "a.txt"), Lines(1, 3), desk.session)
    assert desk.reader.holds(str(desk.cwd / "a.txt"), Lines(2, 3), desk.session)
    (file,) = desk.reader.context(desk.session).held
    assert (file.state, file.texts[0].stale) == ("changed", (Lines(1, 1),))
    assert desk.ask("a.txt:1-3").text.startswith("\ufeffline 1")
    assert desk.ask("a.txt:2-3").mode == "unchanged_range"
    desk.write("a.txt", "\ufeff" + numbered(30).replace("line 20", "line twenty"))
    assert desk.read("a.txt").mode == "baseline_fallback"
    desk.write("a.txt", "\ufeff" + numbered(30).replace("line 1\n", "line one\n"))
    assert "\n-\ufeffline 1\n+\ufeffline one\n" in desk.read("a.txt").text


@pytest.mark.shows("READ-R-diff_payload_truncated", "READ-X-18")
def test_a_diff_beyond_the_limits_of_a_result_falls_back(desk: Desk) -> None:
    rows = [f"{n} " + "word " * 30 for n in range(300)]
    desk.write("a.txt", "\n".join(rows))
    desk.read("a.txt")
    grown = "\n".join([*rows, *(f"new {n} " + "word " * 30 for n in range(700))])
    desk.write("a.txt", grown)
    assert reason(desk.read("a.txt")) == "diff_payload_truncated"


@pytest.mark.shows("READ-B06")
def test_patches_end_whole_unless_trimming_is_asked_for(tmp_path: Path) -> None:
    rows = [*CODE.split("\n")[:40], "tail", "", "", ""]
    for trim, end in ((False, "+TAIL\n \n "), (True, "+TAIL")):
        desk = Desk(tmp_path / str(trim), Settings(policy=Policy(trim_patches=trim)))
        desk.write("a.py", "\n".join(rows))
        desk.read("a.py")
        desk.write("a.py", "\n".join(rows).replace("tail", "TAIL"))
        assert desk.read("a.py").text.endswith(end)


@pytest.mark.shows("READ-DIFF-TIME", "READ-B13")
def test_a_diff_that_takes_too_long_falls_back(desk: Desk) -> None:
    desk.write("a.py", CODE)
    desk.read("a.py")
    desk.write("a.py", "\n".join(reversed(CODE.split("\n"))))
    ticks = iter(range(1000))
    slow = Reader(
        desk.place, desk.objects, now_ms=desk.now_ms, monotonic=lambda: float(next(ticks))
    )
    answer = slow.read(Request("a.py"), desk.session)
    assert (answer.mode, reason(answer)) == ("baseline_fallback", "diff_unavailable_or_empty")


def test_the_import_of_numpy_does_not_count_as_time_of_the_diff(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took most of the 200 ms, or all of them: the first long diff of a process was given up."""
    wide = "holdfast.reading.wide_myers"
    monkeypatch.delitem(sys.modules, wide, raising=False)
    reader = Reader(
        desk.place,
        desk.objects,
        now_ms=desk.now_ms,
        monotonic=lambda: 60.0 if wide in sys.modules else 0.0,
    )
    lines = [f"line {n} of a file that is long enough" for n in range(1000)]
    desk.write("a.txt", "\n".join(lines))
    first = reader.read(Request("a.txt"), desk.session)
    desk.session.append_read(first.content, first.details)
    lines[100:200] = [f"{line}!" for line in lines[100:200]]
    desk.write("a.txt", "\n".join(lines))
    assert reader.read(Request("a.txt"), desk.session).mode == "diff"
    assert wide in sys.modules, "the diff was long enough"


@pytest.mark.shows("READ-SENSITIVE", "READ-DEC-05", "READ-T-TOOL")
@pytest.mark.parametrize(
    "name",
    [".env", ".env.local", ".envrc", ".ENV", "server.pem", "a.KEY", "id_rsa", "id_ed25519",
     ".npmrc", ".netrc", "x.p12", "x.pfx", "x.crt", "x.cer", "x.der", "x.pk8"],
)  # fmt: skip
def test_sensitive_names_leave_no_trace(desk: Desk, name: str) -> None:
    desk.write(name, "SECRET=1")
    for _ in range(2):
        answer = desk.read(name)
        assert (answer.text, answer.meta) == ("SECRET=1", None)
    assert not desk.objects.root.exists()


@pytest.mark.shows("READ-SENSITIVE")
@pytest.mark.parametrize("name", ["id_rsa.pub", "my.env", "sub.env/notes.txt", "keys.txt"])
def test_other_names_are_not_sensitive(desk: Desk, name: str) -> None:
    desk.write(name, "text")
    assert desk.read(name).meta is not None


@pytest.mark.shows("READ-SENSITIVE-REAL")
def test_a_file_that_is_replaced_while_it_is_read_keeps_its_name(tmp_path: Path) -> None:
    """A key behind a link, replaced by a new one at that moment, was called `a.pem (deleted)`,
    which is on no list."""
    key, link = tmp_path / "a.pem", tmp_path / "notes"
    key.write_bytes(b"secret")
    link.symlink_to(key)
    descriptor = os.open(link, os.O_RDONLY)
    key.unlink()
    assert disk._name(descriptor, str(link)) == str(key)
    os.close(descriptor)


@pytest.mark.shows("READ-SENSITIVE-REAL", "READ-B10")
def test_a_link_to_a_sensitive_file_is_sensitive(desk: Desk) -> None:
    desk.write(".env", "SECRET=1")
    os.symlink(".env", desk.cwd / "notes")
    assert desk.read("notes").meta is None
    assert not desk.objects.root.exists()


@pytest.mark.shows("READ-SENSITIVE")
def test_secrets_are_looked_for_once_in_the_same_bytes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[bytes] = []

    def noting(text: bytes) -> list[secrets.Secret]:
        looked.append(text)
        return secrets.secrets_in(text)

    monkeypatch.setattr(sensitive, "secrets_in", noting)
    desk.write("a.py", "x = 1\n")
    assert desk.read("a.py").meta is not None
    assert desk.read("a.py").mode == "unchanged"
    assert looked == [b"x = 1\n"]
    token = "password = 'q8Zr2LmX0vB7nT4kWc9dYh3f'\n"
    desk.write("a.py", token)
    for _ in range(2):
        assert desk.read("a.py").meta is None
    assert looked == [b"x = 1\n", token.encode(), token.encode()]


@pytest.mark.shows("READ-SENSITIVE-OWN", "READ-B10")
def test_the_sensitive_list_can_be_extended_and_narrowed(tmp_path: Path) -> None:
    rules = Sensitive(also=("*.tfstate", "*/secrets/*"), never=(".env.example",))
    desk = Desk(tmp_path, Settings(sensitive=rules))
    for name in ("prod.tfstate", "secrets/token.txt", ".env"):
        desk.write(name, "x")
        assert desk.read(name).meta is None
    desk.write(".env.example", "x")
    assert desk.read(".env.example").meta is not None


@pytest.mark.shows("READ-BASE-UTF8", "READ-DEC-07", "READ-T-TOOL", "READ-X-08")
@pytest.mark.parametrize("data", [b"\xff\xfe\n", b"ok\xed\xa0\x80"])
def test_text_that_is_not_utf8_has_no_metadata(desk: Desk, data: bytes) -> None:
    desk.write("a.bin", data)
    for _ in range(2):
        answer = desk.read("a.bin")
        assert answer.meta is None
        assert "\ufffd" in answer.text


@pytest.mark.shows("READ-SUFFIX", "READ-T-TOOL")
def test_a_malformed_suffix_is_refused(desk: Desk) -> None:
    desk.write("a.txt", numbered(10))
    with pytest.raises(BadRange):
        desk.read("a.txt:8-2")


@pytest.mark.shows("READ-R-base_object_missing", "READ-EDGE-09", "READ-T-TOOL")
def test_a_missing_base_falls_back_and_shows_the_new_text(desk: Desk) -> None:
    desk.write("a.py", CODE)
    first = desk.read("a.py")
    assert first.meta is not None
    os.unlink(desk.objects.path_of(first.meta.digest))
    changed = CODE.replace("compute 150", "recompute 150")
    desk.write("a.py", changed)
    answer = desk.read("a.py")
    assert (answer.text, reason(answer)) == (changed, "base_object_missing")


@pytest.mark.shows("READ-X-20")
def test_an_unchanged_read_brings_a_lost_object_back(desk: Desk) -> None:
    desk.write("a.py", CODE)
    first = desk.read("a.py")
    assert first.meta is not None
    os.unlink(desk.objects.path_of(first.meta.digest))
    assert desk.read("a.py").mode == "unchanged"
    assert desk.objects.load(first.meta.digest) is not None


@pytest.mark.shows("READ-T-TOOL", "READ-B01", "READ-X-17")
def test_a_cut_text_keeps_its_details_and_claims_what_it_shows(desk: Desk) -> None:
    desk.write("big.txt", numbered(10_000))
    answer = desk.read("big.txt")
    assert answer.details is not None
    assert answer.details["truncation"]["outputLines"] == 2000
    assert answer.meta is not None
    assert answer.meta.scope == Lines(1, 2000)
    again = desk.read("big.txt")
    assert again.text == "[readcache: unchanged in lines 1-2000 of 10000]"
    on = desk.read("big.txt", offset=2001)
    assert on.text.startswith("line 2001\n")
    assert desk.read("big.txt:5000-5010").mode == "full"


@pytest.mark.shows("READ-B01")
def test_a_line_too_long_to_show_is_never_claimed(desk: Desk) -> None:
    desk.write("m.txt", "a\n" + "x" * 60_000 + "\nb")
    assert desk.read("m.txt", offset=2).meta is None
    assert desk.read("m.txt", offset=2).text.startswith("[Line 2 is 58.6KB")


@pytest.mark.shows("READ-B01", "READ-BLOCK")
def test_a_refreshed_run_that_is_cut_stays_plain(desk: Desk) -> None:
    """The run cannot be printed at once, so nothing ever lifts its blocker: the safe side."""
    desk.write("big.txt", numbered(5000))
    desk.read("big.txt", offset=2001)
    desk.reader.refresh(Request("big.txt", offset=2001), desk.session)
    assert desk.read("big.txt", offset=2001).mode == "full"
    assert desk.read("big.txt", offset=2001).mode == "full"


@pytest.mark.shows("READ-BASE-IMAGES", "READ-DEC-04", "READ-T-TOOL", "READ-X-09")
def test_an_image_is_passed_through(desk: Desk) -> None:
    png = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000020000000308060000007e9c2a1a")
    desk.write("tiny.txt", png)
    for _ in range(2):
        answer = desk.read("tiny.txt")
        assert answer.text == "Read image file [image/png]"
        assert [block["type"] for block in answer.content] == ["text", "image"]
        assert answer.details is None


@pytest.mark.shows(
    "READ-ABORT",
    "READ-EDGE-13",
    "READ-T-TOOL",
    "READ-X-28",
    "READ-DEC-01",
    "READ-DEC-06",
    "READ-DEC-09",
    "READ-DEC-17",
)
def test_a_read_called_off_at_any_point_changes_nothing(desk: Desk) -> None:
    desk.write("a.py", CODE)
    desk.read("a.py")
    desk.write("a.py", CODE.replace("compute 150", "recompute 150"))
    before = desk.trust()
    for moment in range(3):
        checks = iter([False] * moment + [True] * 9)
        with pytest.raises(Aborted, match="Operation aborted"):
            desk.reader.read(Request("a.py"), desk.session, lambda c=checks: next(c))  # type: ignore[misc]
        assert desk.trust() == before
    assert desk.read("a.py").mode == "diff"


@pytest.mark.shows("READ-B02", "READ-DEC-03", "READ-X-23")
def test_the_bytes_shown_are_the_bytes_hashed(desk: Desk) -> None:
    """The file changes right after it was read: the next read must not call it unchanged."""
    path = desk.write("a.txt", "v1")

    def read_then_change(name: str) -> tuple[bytes, str]:
        data = Path(name).read_bytes()
        path.write_bytes(b"v2")
        return data, name

    reader = Reader(
        desk.place,
        desk.objects,
        now_ms=desk.now_ms,
        monotonic=lambda: 0.0,
        read_file=read_then_change,
    )
    answer = reader.read(Request("a.txt"), desk.session)
    desk.session.append_read(answer.content, answer.details)
    assert answer.text == "v1"
    assert desk.read("a.txt").text == "v2"


@pytest.mark.shows("READ-OVERLAY", "READ-X-29")
def test_two_reads_in_one_turn_send_the_text_once(desk: Desk) -> None:
    desk.write("a.txt", numbered(5))
    assert desk.session.leaf is None
    assert desk.ask("a.txt").mode == "full"
    assert desk.ask("a.txt").mode == "unchanged"
    assert desk.ask("a.txt:2-3").mode == "unchanged_range"
    desk.session.append("message", message={"role": "user", "content": "never mind"})
    assert desk.ask("a.txt").mode == "full"


@pytest.mark.shows("READ-OVERLAY")
def test_going_elsewhere_and_back_forgets_this_turns_answers(desk: Desk) -> None:
    """They were never written down, so nobody can say that the model saw them."""
    desk.write("a.txt", numbered(5))
    here = desk.session.append("message", message={"role": "user", "content": "x"})
    desk.ask("a.txt")
    desk.session.navigate(None)
    desk.session.navigate(here)
    assert desk.ask("a.txt").mode == "full"


@pytest.mark.shows("READ-NO-EVIDENCE")
def test_without_a_session_every_read_is_plain_and_nothing_is_kept(desk: Desk) -> None:
    desk.write("a.txt", numbered(5))
    for _ in range(2):
        assert desk.reader.read(Request("a.txt")).text == numbered(5)
    assert not desk.objects.root.exists()


@pytest.mark.shows("READ-NO-EVIDENCE", "READ-SC-6")
def test_a_session_that_proves_nothing_gets_plain_text(desk: Desk) -> None:
    host = UnreadableLog("who knows")
    desk.write("a.txt", numbered(5))
    for _ in range(3):
        assert desk.reader.read(Request("a.txt"), host).mode == "full"


@pytest.mark.shows("READ-RANGE-DIFF", "READ-B08")
def test_a_changed_run_can_be_answered_by_a_diff_of_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Settings(policy=Policy(range_diffs=True)))
    desk.write("a.py", CODE)
    desk.read("a.py:100-200")
    desk.write("a.py", CODE.replace("compute 150", "recompute 150"))
    answer = desk.read("a.py:100-200")
    assert answer.mode == "diff"
    assert answer.text.startswith("[readcache: 1 lines changed in lines 100-200 of 300]\n")
    assert "\n@@ -147,7 +147,7 @@\n" in answer.text
    plain = Desk(tmp_path / "plain")
    plain.write("a.py", CODE)
    plain.read("a.py:100-200")
    plain.write("a.py", CODE.replace("compute 150", "recompute 150"))
    assert reason(plain.read("a.py:100-200")) == "range_slice_changed"


@pytest.mark.shows("READ-B04", "READ-X-16")
def test_a_line_the_base_does_not_have_is_not_an_empty_one(desk: Desk) -> None:
    desk.write("a.txt", "a\nb\nc")
    desk.read("a.txt")
    desk.write("a.txt", "a\nb\nc\n")
    assert desk.read("a.txt:4-4").mode == "baseline_fallback"


@pytest.mark.shows("READ-B14", "READ-X-01")
def test_an_empty_file_is_a_text_like_any_other(desk: Desk) -> None:
    desk.write("a.txt", "")
    assert desk.read("a.txt").text == ""
    assert desk.read("a.txt").text == "[readcache: unchanged, 1 lines]"
    desk.write("a.txt", numbered(3))
    assert reason(desk.read("a.txt")) == "diff_not_useful"


@pytest.mark.shows("READ-ERR-BEYOND", "READ-EDGE-03")
def test_an_offset_past_the_end_is_refused(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    with pytest.raises(BeyondEnd) as caught:
        desk.read("a.txt", offset=13)
    assert str(caught.value) == "Offset 13 is beyond end of file (12 lines total)"


@pytest.mark.shows("READ-ERR-FS", "READ-X-24")
def test_the_file_system_refuses_in_known_words(desk: Desk) -> None:
    (desk.cwd / "dir").mkdir()
    os.symlink("gone", desk.cwd / "dangling")
    os.symlink("loop", desk.cwd / "loop")
    os.mkfifo(desk.cwd / "pipe")
    cwd = desk.cwd
    for name, words in {
        "nope": f"ENOENT: no such file or directory, access '{cwd}/nope'",
        "dangling": f"ENOENT: no such file or directory, access '{cwd}/dangling'",
        "dir": "EISDIR: illegal operation on a directory, read",
        "loop": f"ELOOP: too many symbolic links encountered, access '{cwd}/loop'",
        "pipe": f"EINVAL: not a regular file, read '{cwd}/pipe'",
    }.items():
        with pytest.raises(Unreadable) as caught:
            desk.read(name)
        assert str(caught.value) == words
    with pytest.raises(Unreadable, match="ENAMETOOLONG"):
        desk.read("x" * 5000)


@pytest.mark.shows("READ-ERR-FS")
def test_an_unreadable_file_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("a.txt", "x")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(Unreadable, match="EACCES: permission denied, access"):
        desk.reader.read(Request("a.txt"))


def vanish(path: Path) -> None:
    path.unlink()


def become_a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def become_a_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def become_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def become_binary(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")


def become_empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.shows("READ-BAD-FILES")
@pytest.mark.parametrize(
    "change",
    [vanish, become_a_directory, become_a_loop, become_a_pipe, become_binary, become_empty],
)
def test_a_file_that_turns_into_something_else_during_the_call(
    desk: Desk, change: Callable[[Path], None]
) -> None:
    path = desk.write("a.txt", numbered(10))
    desk.read("a.txt")
    before = desk.trust()

    def change_then_read(name: str) -> tuple[bytes, str]:
        change(path)
        return read_once(name)

    reader = Reader(
        desk.place,
        desk.objects,
        now_ms=desk.now_ms,
        monotonic=lambda: 0.0,
        read_file=change_then_read,
    )
    try:
        answer = reader.read(Request("a.txt"), desk.session)
    except Unreadable:
        answer = None
    assert answer is None or answer.mode in (None, "baseline_fallback")
    assert desk.trust() == before


@pytest.mark.shows("READ-OBJ-GC")
def test_collecting_spares_what_the_session_stands_on(desk: Desk) -> None:
    desk.write("a.txt", numbered(10))
    held = desk.read("a.txt")
    stale = digest_of(b"stale")
    desk.objects.keep(b"stale", stale)
    assert held.meta is not None
    for digest in (held.meta.digest, stale):
        os.utime(desk.objects.path_of(digest), (1, 1))
    assert desk.reader.collect([desk.session]).deleted == 1
    assert desk.objects.load(held.meta.digest) is not None


def test_threads_that_read_at_once_take_turns(desk: Desk) -> None:
    desk.write("a.txt", numbered(200))
    modes: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: modes.append(desk.ask("a.txt").mode)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, modes)) == ["full"] + ["unchanged"] * 7


@pytest.mark.shows("READ-TOOL-REFRESH")
@pytest.mark.parametrize(
    ("request_", "marker", "scope"),
    [
        (Request("a.txt"), "invalidated full scope for a.txt", WHOLE),
        (Request("a.txt", 1, 12), "invalidated full scope for a.txt", WHOLE),
        (Request("a.txt", 3, 2), "invalidated lines 3-4 for a.txt", Lines(3, 4)),
        (Request("a.txt:7"), "invalidated lines 7-12 for a.txt", Lines(7, 12)),
        (Request("gone.txt", 4, 3), "invalidated lines 4-6 for gone.txt", Lines(4, 6)),
        (Request("gone.txt", 4), "invalidated full scope for gone.txt", WHOLE),
        (Request("a.txt", 100, 101), "invalidated lines 100-200 for a.txt", Lines(100, 200)),
    ],
)
def test_a_refresh_names_what_it_takes_back(
    desk: Desk, request_: Request, marker: str, scope: object
) -> None:
    desk.write("a.txt", numbered(12))
    assert desk.reader.refresh(request_, desk.session).to_text() == f"[readcache-refresh] {marker}"
    event = metas.parse_refresh(desk.session.entries[-1]["data"])
    assert event is not None
    assert event.scope == scope


@pytest.mark.shows("READ-TOOL-REFRESH")
@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request("a.txt", 0), 'Invalid offset "0". Offset must be a positive integer.'),
        (Request("a.txt", 1, 2.5), 'Invalid limit "2.5". Limit must be a positive integer.'),
    ],
)
def test_a_refresh_of_no_lines_is_refused(desk: Desk, request_: Request, words: str) -> None:
    with pytest.raises(BadArgument) as caught:
        desk.reader.refresh(request_, desk.session)
    assert str(caught.value) == words
    assert desk.session.entries == []


@pytest.mark.shows("READ-EXPLAIN")
def test_explaining_an_answer_names_its_candidates_and_changes_nothing(desk: Desk) -> None:
    desk.write("a.txt", numbered(30))
    desk.read("a.txt:2-4")
    desk.read("a.txt")
    desk.reader.refresh(Request("a.txt:2-4"), desk.session)
    before = len(desk.session.entries)
    facts = desk.reader.explain(Request("a.txt:3-5"), desk.session).to_wire()
    assert facts["session"]["boundary"] == "root"
    assert facts["mode"] == "unchanged_range"
    chosen = [held["scope"] for held in facts["candidates"] if held.get("chosen")]
    assert chosen == ["full"]
    assert {"scope": "r:2:4", "blocked": True} in facts["candidates"]
    assert len(desk.session.entries) == before
    assert not desk.reader.explain(Request("a.txt"), None).to_wire()["session"]["proves"]


@pytest.mark.shows("READ-HOLDS")
def test_a_reader_knows_which_lines_need_not_be_repeated(desk: Desk) -> None:
    path = str(desk.write("a.txt", numbered(30)))
    assert not desk.reader.holds(path, Lines(2, 4), desk.session)
    desk.read("a.txt:1-10")
    assert desk.reader.holds(path, Lines(2, 4), desk.session)
    assert not desk.reader.holds(path, Lines(8, 12), desk.session)
    desk.write("a.txt", numbered(30).replace("line 3\n", "line three\n"))
    assert not desk.reader.holds(path, Lines(2, 4), desk.session)
    assert desk.reader.holds(path, Lines(5, 9), desk.session)
    assert not desk.reader.holds(path, Lines(5, 99), desk.session)
    assert not desk.reader.holds(path + ".gone", Lines(1, 1), desk.session)


@pytest.mark.shows("READ-HOLDS", "READ-CHANGE-AND-BACK")
def test_lines_that_were_shown_otherwise_and_changed_back_are_not_held(desk: Desk) -> None:
    """A pointer *already in your context* looked only for the digest of the whole file."""
    path = str(desk.write("a.txt", numbered(20)))
    desk.read("a.txt")
    assert desk.reader.holds(path, Lines(2, 4), desk.session)
    desk.write("a.txt", numbered(20).replace("line 3\n", "other\n"))
    desk.read("a.txt", offset=1, limit=6)
    desk.write("a.txt", numbered(20))
    assert not desk.reader.holds(path, Lines(2, 4), desk.session)
    assert desk.reader.holds(path, Lines(8, 12), desk.session)


@pytest.mark.shows("READ-HOLDS")
def test_lines_of_several_reads_and_searches_are_held_together(tmp_path: Path, desk: Desk) -> None:
    path = str(desk.write("a.txt", numbered(20)))
    sidecar = Sidecar(tmp_path / "sidecar.jsonl")
    log = ClaudeCodeLog(tmp_path / "agent-1.jsonl", sidecar, sidechain=True, newest_leaf=True)
    writer = SubagentWriter(tmp_path)
    rows = tuple(numbered(20).split("\n"))
    for first, last in ((2, 5), (6, 9)):
        call = search(writer, 1.0)
        printed = Printed(path, first, rows[first - 1 : last], excerpt=True)
        sidecar.record_shown(call, f"{first}", [printed])
        search_result(writer, call, f"{first}", 1.0)
    assert desk.reader.holds(path, Lines(3, 8), log)
    assert not desk.reader.holds(path, Lines(3, 10), log)


@pytest.mark.shows("READ-STATUS", "READ-SAVINGS")
def test_the_status_counts_modes_and_savings(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    desk.read("a.txt")
    desk.read("a.txt:1-3")
    assert desk.reader.status(desk.session).to_text() == (
        "[readcache-status]\n"
        "tracked scopes: 2 across 1 files\n"
        "replay window: 3 entries (start index 0)\n"
        "mode counts: full=1, unchanged=1, unchanged_range=1, diff=0, baseline_fallback=0\n"
        "estimated savings: ~14 tokens (54 B)\n"
        "object store: 1 objects, 86 B"
    )


@pytest.mark.shows("READ-SAVINGS", "READ-B17")
def test_what_the_limits_cut_off_was_not_saved(desk: Desk) -> None:
    desk.write("big.txt", numbered(10_000))
    desk.read("big.txt")
    assert desk.reader.status(desk.session).savings.saved_bytes == 0


def test_every_error_of_a_read_is_one_of_ours(desk: Desk) -> None:
    for request in (Request(""), Request("\ud800"), Request("a\0"), Request("/proc/self/mem")):
        with pytest.raises(ReadingError):
            desk.reader.read(request, desk.session)
