"""The settings of the index, as the environment gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.home import Home
from holdfast.index.building.build_tools import CHUNKS_MAX
from holdfast.index.settings import index_of


@pytest.mark.shows("INDEX-LIMIT-REACHED")
@pytest.mark.parametrize(("text", "limit"), [("", CHUNKS_MAX), ("2000000", 2_000_000)])
def test_how_many_chunks_a_tree_may_have_is_a_setting(
    tmp_path: Path, text: str, limit: int
) -> None:
    index = index_of(Home(tmp_path), {"HOLDFAST_INDEX_CHUNKS_MAX": text})
    assert index.tools().chunks_max == limit
    index.close()


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_a_limit_that_is_no_number_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="HOLDFAST_INDEX_CHUNKS_MAX must be a whole number"):
        index_of(Home(tmp_path), {"HOLDFAST_INDEX_CHUNKS_MAX": text})
