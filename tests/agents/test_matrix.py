"""The table of agents and scenarios says what the tests do."""

import re
from pathlib import Path

import pytest

from tests.agents.matrix import AGENTS, MATRIX, PAGE, is_test, with_table

HERE = Path(__file__).parent


@pytest.mark.shows("AGENTS-MATRIX")
def test_every_cell_names_a_test_that_exists_or_a_reason() -> None:
    for scenario, cells in MATRIX.items():
        assert len(cells) == len(AGENTS), scenario
        for agent, cell in zip(AGENTS, cells, strict=True):
            if not is_test(cell):
                assert len(cell) > 8, (scenario, agent)
                continue
            file, _, name = cell.partition("::")
            text = (HERE / file).read_text()
            assert re.search(rf"^def {name}\(", text, re.MULTILINE), (scenario, agent, cell)


@pytest.mark.shows("AGENTS-MATRIX")
def test_the_page_has_the_table_of_now() -> None:
    page = PAGE.read_text()
    assert with_table(page) == page, "run: python -m tests.agents.matrix --write"
