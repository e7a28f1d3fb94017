"""A kept answer of `clones` is used only for the files that it was made of."""

import os
import random
from pathlib import Path

import pytest

from holdfast.app import App
from holdfast.repeats import find
from holdfast.repeats.answer_cache import with_first_lines
from holdfast.sequence.clones_request import ClonesRequest
from holdfast.sequence.report import ClonesReport, GroupReport

OLD_NS = 1_600_000_000_000_000_000
BODY = "".join(f"    step_{n} = first_{n}(value, {n})\n" for n in range(12))


def quiet(what: str, done: int, total: int) -> None:
    pass


class Counted:
    """Counts how often blocks were found, not taken from a kept answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        real = find.find_clones

        def counted(*given: object) -> find.FoundClones:
            self.times += 1
            return real(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(find, "find_clones", counted)


def write(path: Path, text: str, at_ns: int = OLD_NS) -> None:
    """Write a file that looks old: one that was just written is read again each time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(at_ns, at_ns))


class LaterClock:
    """A clock that is far ahead, so that change times of the files are long ago too."""

    def now_ns(self) -> int:
        return 4_000_000_000_000_000_000

    def __getattr__(self, name: str) -> object:
        from holdfast import system

        return getattr(system.CLOCK, name)


def asked(tmp_path: Path, home: str = "home", **options: object) -> ClonesReport:
    app = App(tmp_path / home, clock=LaterClock())  # type: ignore[arg-type]
    request = ClonesRequest(limit=50, **options)  # type: ignore[arg-type]
    return app.find_clones(tmp_path / "tree", request, quiet)


@pytest.mark.shows("SEQ-CLONES-KEPT")
def test_a_second_question_is_answered_without_finding_the_blocks_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "tree/one.py", f"def one(value):\n{BODY}")
    write(tmp_path / "tree/two.py", f"def two(value):\n{BODY}")
    counted = Counted(monkeypatch)
    first = asked(tmp_path)
    assert first.groups[0].count == 2
    assert asked(tmp_path) == first
    assert counted.times == 1
    assert asked(tmp_path, minimum=400).groups == (), "other options are another question"
    assert counted.times == 2


def in_order(report: ClonesReport) -> tuple[object, list[GroupReport]]:
    """Groups that save the same have no order of their own."""
    return report.summary, sorted(report.groups, key=repr)


@pytest.mark.shows("SEQ-CLONES-KEPT")
def test_after_any_change_the_answer_is_that_of_a_new_home(tmp_path: Path) -> None:
    """The twin is a home that has never seen the tree."""
    choose = random.Random(11)
    names = [f"m{n}.py" for n in range(5)]
    for name in names:
        write(tmp_path / "tree" / name, f"def {name[:2]}(value):\n{BODY}")
    for step in range(12):
        path = tmp_path / "tree" / choose.choice(names)
        match choose.randrange(4):
            case 0:
                path.unlink(missing_ok=True)
            case 1:
                write(path, f"def f(value):\n{BODY}{BODY.replace('step', f's{step}')}")
            case 2:  # the same size and modification time; only the change time tells
                if path.exists():
                    write(path, path.read_text().replace("step_1", f"st{step % 10}p_1"))
            case _:
                write(path, f"def f(value):\n{BODY}", OLD_NS + step)
        fresh = in_order(asked(tmp_path, f"fresh{step}"))
        assert in_order(asked(tmp_path)) == fresh, f"after step {step}"
        assert in_order(asked(tmp_path)) == fresh, f"again after step {step}"


@pytest.mark.shows("SEQ-CLONES-KEPT")
def test_a_damaged_kept_answer_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "tree/one.py", f"def one(value):\n{BODY}")
    write(tmp_path / "tree/two.py", f"def two(value):\n{BODY}")
    first = asked(tmp_path)
    (kept,) = (tmp_path / "home").rglob("*.clones")
    data = bytearray(kept.read_bytes())
    data[len(data) // 2] ^= 1
    kept.write_bytes(data)
    counted = Counted(monkeypatch)
    assert asked(tmp_path) == first
    assert counted.times == 1


@pytest.mark.shows("SEQ-CLONES-KEPT")
def test_a_file_that_was_just_written_is_never_answered_from_a_kept_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write in the same tick of the clock leaves no other trace."""
    write(tmp_path / "tree/one.py", f"def one(value):\n{BODY}")
    counted = Counted(monkeypatch)
    for _ in range(2):
        App(tmp_path / "home").find_clones(tmp_path / "tree", ClonesRequest(), quiet)
    assert counted.times == 2


@pytest.mark.shows("SEQ-CLONES-KEPT")
def test_no_text_of_a_tree_is_kept(tmp_path: Path) -> None:
    write(tmp_path / "tree/one.py", f"def one(value):\n{BODY}")
    write(tmp_path / "tree/two.py", f"def two(value):\n{BODY}")
    assert asked(tmp_path).groups[0].first_line
    (kept,) = (tmp_path / "home").rglob("*.clones")
    assert b"first_" not in kept.read_bytes()


@pytest.mark.shows("SEC-SECRET-CONTENT")
def test_the_line_that_is_shown_of_a_block_has_no_secret(tmp_path: Path) -> None:
    value = "aB3dE6gH9" * 4
    for name in ("one", "two"):
        write(tmp_path / f"tree/{name}.py", f'TOKEN = "ghp_{value}"\n{BODY.replace("    ", "")}')
    for _ in "found", "kept":
        lines = [group.first_line for group in asked(tmp_path).groups]
        assert any(line.startswith('TOKEN = "****') for line in lines), lines
        assert all(value not in line for line in lines)


def test_the_line_that_is_shown_of_a_block_is_of_the_tree(tmp_path: Path) -> None:
    """A folder that became a link after the blocks were found led to lines of other files."""
    for name in ("one", "two"):
        write(tmp_path / f"tree/{name}/part.py", BODY.replace("    ", ""))
    groups = asked(tmp_path).groups
    assert groups[0].first_line
    write(tmp_path / "outside/part.py", "never = shown\n" * 12)
    for name in ("one", "two"):
        (tmp_path / "tree" / name).rename(tmp_path / name)
        (tmp_path / "tree" / name).symlink_to(tmp_path / "outside")
    shown = with_first_lines(tmp_path / "tree", groups)
    assert [group.first_line for group in shown] == [""] * len(groups)
