"""A tree as data: which files count, and what changed."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import UsageError
from holdfast.files import listing
from holdfast.files.listing import FileStat, changes

stats = st.dictionaries(
    st.sampled_from("abcd"), st.builds(FileStat, st.integers(0, 2), st.integers(0, 2))
)


@given(stats, stats)
def test_changes_lead_from_one_listing_to_the_other(
    before: dict[str, FileStat], after: dict[str, FileStat]
) -> None:
    found = changes(before, after)
    rebuilt = {path: stat for path, stat in before.items() if path not in found.removed}
    rebuilt.update({path: after[path] for path in (*found.added, *found.changed)})
    assert rebuilt == after
    assert bool(found) == (before != after)


def tree(root: Path, *paths: str) -> None:
    for path in paths:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("x")


@pytest.mark.shows("SEQ-FILES")
def test_git_decides_what_counts_in_a_repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    tree(tmp_path, "a.py", "sub/b.py", "node_modules/c.js", "ignored.log", "sub/ü.py")
    (tmp_path / ".gitignore").write_text("*.log\n")
    found = listing.list_files(tmp_path).files
    assert set(found) == {".gitignore", "a.py", "sub/b.py", "node_modules/c.js", "sub/ü.py"}
    assert set(listing.list_files(tmp_path / "sub").files) == {"b.py", "ü.py"}


@pytest.mark.shows("SEQ-FILES")
def test_elsewhere_directories_that_nobody_writes_are_left_out(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "sub/b.py", "node_modules/c.js", ".venv/d.py")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    (tmp_path / "big.txt").write_bytes(b"x" * 100)
    os.mkfifo(tmp_path / "pipe")
    environment = os.environ.get("GIT_CEILING_DIRECTORIES")
    os.environ["GIT_CEILING_DIRECTORIES"] = str(tmp_path.parent)
    try:
        found = listing.list_files(tmp_path, size_bytes_max=50)
    finally:
        if environment is None:
            del os.environ["GIT_CEILING_DIRECTORIES"]
        else:
            os.environ["GIT_CEILING_DIRECTORIES"] = environment
    assert set(found.files) == {"a.py", "sub/b.py"}
    assert found.too_large == ("big.txt",)


def test_a_file_that_is_gone_reads_as_nothing(tmp_path: Path) -> None:
    assert listing.read(tmp_path, "missing") is None
    with pytest.raises(UsageError):
        listing.list_files(tmp_path / "missing")
