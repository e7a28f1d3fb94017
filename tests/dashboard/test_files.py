"""Files that the dashboard reads by their path: never waited for, never read without a bound."""

import os
from pathlib import Path

import pytest

from holdfast.dashboard.lines import line_rows
from holdfast.dashboard.pages import Pages
from holdfast.dashboard.service import DashboardService
from holdfast.files.regular import FILE_BYTES_MAX
from holdfast.links import reader_below
from holdfast.reading.scope import Lines
from tests.dashboard.demo import Demo
from tests.dashboard.test_lines import held
from tests.dashboard.test_pages import ask, demo, service

__all__ = ["demo", "service"]


def plant(folder: Path) -> dict[str, Path]:
    """Files that block a reader, or never end."""
    hostile = {name: folder / f"{name}.py" for name in ("pipe", "device", "sparse", "folder")}
    os.mkfifo(hostile["pipe"])
    hostile["device"].symlink_to("/dev/zero")
    with open(hostile["sparse"], "wb") as file:
        file.truncate(700 << 20)
    hostile["folder"].mkdir()
    return hostile


@pytest.mark.long
@pytest.mark.shows("SEC-DASHBOARD-FILES")
def test_a_file_that_would_block_or_fill_the_memory_is_refused(
    service: DashboardService, demo: Demo
) -> None:
    """A sparse file of 700 MB took the server to 11.5 GB, and a pipe blocked it for ever."""
    pages, root = Pages(service.questions), demo.project
    for path in plant(root).values():
        found = ask(pages, f"/api/file?root={root}&file={path.name}")
        assert found.status == 400, path
        assert len(found.body) < 1_000
    large = ask(pages, f"/api/file?root={root}&file=sparse.py").json
    assert "larger than 16 MiB" in large["error"]
    assert ask(pages, f"/api/file?root={root}&file=app/cart.py").status == 200
    (root / "whole.py").write_bytes(b"x\r\n" * (FILE_BYTES_MAX // 3))
    whole = ask(pages, f"/api/file?root={root}&file=whole.py&start=2&end=3").json
    assert whole["content"] == "x\nx"


@pytest.mark.shows("SEC-DASHBOARD-FILES")
def test_links_and_held_lines_read_no_such_file(tmp_path: Path) -> None:
    for path in plant(tmp_path).values():
        assert reader_below(str(tmp_path))(path.name, None) is None
        rows = line_rows(held(path, "a\nb", Lines(1, 2)), lambda _: b"a\nb", 100).rows
        assert [row.kind for row in rows] == ["-", "-"], "as good as missing"


@pytest.mark.shows("SEC-DASHBOARD-FILES")
def test_every_place_in_pages_and_web_that_opens_a_path_is_bounded() -> None:
    """A new `open(path)` there fails this test; `read_regular` is the way to read a path."""
    import holdfast

    source = Path(holdfast.__file__).parent
    calls = (" open(", "(open(", ".read_text(", ".read_bytes(")
    places = [
        f"{path.relative_to(source)}: {line.strip()}"
        for package in ("dashboard", "web")
        for path in sorted((source / package).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if any(call in line for call in calls)
    ]
    shipped = "dashboard/pages.py: body = file.read_bytes().replace("  # a file of the package
    assert [place for place in places if not place.startswith(shipped)] == []
