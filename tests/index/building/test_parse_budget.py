"""Trees full of files that no parser comes to an end with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.files.snapshot import Entry, Stat
from holdfast.index.building import parse_budget, put_files
from holdfast.index.building.parse_budget import SHARE, Allowance, ParseBudget
from holdfast.index.building.prepare import extract_facts
from holdfast.index.building.workers import Recipe, prepare_all
from holdfast.index.code_index import open_index, run_here
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.facts import parse as parsing
from holdfast.index.facts.model import decode
from holdfast.index.generations.model import SourceFile
from tests.index.wire import file_outline, list_codebases, manage_index, search_code
from tests.scale import size

LINE = b"&|" * 40 + b"\n"
HOSTILE = LINE * 400
SLOWEST_S = size(3, 1) / 10
GOOD = b"def total(cart):\n    return count(cart)\n\n" * 300


@pytest.mark.shows("INDEX-PARSE-BUDGET")
def test_limits_are_lowered_and_then_the_language_is_not_parsed() -> None:
    budget = ParseBudget(first_s=10, all_s=20)
    assert budget.allowance() == Allowance()
    budget.charge("a.cs", 1_000_000)
    assert budget.spent_s == pytest.approx(11)
    assert budget.allowance() == Allowance(SHARE)
    for _ in range(4):
        budget.charge("b.cs", 1_000_000)
    assert budget.spent_s == pytest.approx(11 + 4 * 11 * SHARE)
    assert budget.allowance().parses("c.cs", 1_000_000)
    budget.charge("b.cs", 1_000_000)
    spent = budget.allowance()
    assert not spent.parses("c.cs", 1_000_000)
    assert spent.parses("c.cs", parsing.SHORT_BYTES), "what is short cannot take long"
    assert spent.parses("c.py", 1_000_000), "another language"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "SLOWEST_SECONDS", SLOWEST_S)
    monkeypatch.setattr(parsing, "SLOWEST_SECONDS_PER_BYTE", 0.0)


def job(path: str, source: bytes) -> SourceFile:
    return SourceFile(path, source, Entry(Stat(len(source), 0, 0), path))


@pytest.mark.long
@pytest.mark.shows("INDEX-PARSE-BUDGET")
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "total_bytes",
    [
        pytest.param(1 << 30, id="by workers"),
        pytest.param(1, id="in this process"),
    ],
)
def test_many_hostile_files_cost_no_more_than_the_budget(total_bytes: int) -> None:
    """31 files of a megabyte were not done after four minutes: each had two tries of its own."""
    budget = ParseBudget(first_s=SLOWEST_S, all_s=5 / 3 * SLOWEST_S)
    hostile = [job(f"h{number:02}.cs", HOSTILE) for number in range(31)]
    good = [job(f"g{number}.py", GOOD) for number in range(4)]
    made = list(prepare_all([*hostile, *good], Recipe(extract_facts, None), total_bytes, 2, budget))
    assert [file.path for file in made] == [each.path for each in (*hostile, *good)]
    details = [decode(file.facts).problems[0].detail for file in made[:31]]
    tried = details.count("parsing took too long")
    # What was under way in both workers when the budget was spent is still given its time.
    most = 12
    assert 1 <= tried <= most
    assert details.count("not parsed: files like it took too long in this tree") == 31 - tried
    assert budget.spent_s < (5 / 3 + most) * SLOWEST_S
    for file in made[31:]:
        facts = decode(file.facts)
        assert (len(facts.symbols), facts.problems) == (300, ())


@pytest.mark.long
@pytest.mark.shows("INDEX-PARSE-BUDGET")
@pytest.mark.usefixtures("impatient")
def test_the_answer_names_what_was_kept_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(put_files, "ParseBudget", lambda: ParseBudget(0.3, 0.5))
    assert parse_budget.ParseBudget().all_s > 0.5
    root = (tmp_path / "repo").resolve()
    root.mkdir()
    for number in range(7):
        (root / f"h{number}.cs").write_bytes(HOSTILE + b"// needle_%d\n" % number)
    (root / "good.py").write_bytes(GOOD)
    index = open_index(tmp_path / "home", HashedEmbedding())
    index.start = run_here

    def said() -> tuple[str, str]:
        status: Any = manage_index(index, "status", str(root))
        (row,) = list_codebases(index)["codebases"]
        return status["humanText"], row["detail"]

    manage_index(index, "create", str(root))
    text, detail = said()
    names = ", ".join(f"h{number}.cs" for number in range(5))
    kept = "kept as plain text, without outline and calls, because parsing took too long"
    assert f"7 files {kept}: {names}, …" in text
    assert detail == "7 files kept as plain text"
    found: Any = search_code(index, str(root), "needle_6")
    assert found["results"][0]["file"] == "h6.cs"
    outline: Any = file_outline(index, str(root), "h6.cs")
    assert "too_hard" in outline["warnings"][0]
    (root / "h0.cs").unlink()
    (root / "h1.cs").write_text("class Cart {}\n")
    (root / "new.py").write_text("x = 1\n")
    manage_index(index, "sync", str(root))
    assert f"5 files {kept}: h2.cs" in said()[0], "a sync keeps what it did not read"
    index.close()
