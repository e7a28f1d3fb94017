"""Figures in pages come from recorded runs of benchmarks."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from bench.evidence import figures, records
from bench.evidence.__main__ import DOCS, pages
from bench.evidence.drawings import DRAWINGS, image_name, images
from bench.evidence.records import Record
from bench.evidence.running import BENCHMARKS, RETRIEVAL_SETS, Inputs, retrieval_rows
from bench.evidence.sections import SECTIONS
from bench.timing import Row

ROOT = Path(__file__).parents[1]


EXPERIMENTS = (
    "calls-experiments.md", "retrieval-experiments.md", "scale-history.md", "requirements.md",
)  # fmt: skip
"""Pages whose tables were made with the code of their day, and say so."""
MEASURED_HEAD = re.compile(
    r"\| *(measured|found|right|p50|[µu]s|ms|before|today) *\|", re.IGNORECASE
)


def record(*rows: Row, name: str = "shop") -> Record:
    return Record(name=name, command="python -m bench.shop", machine="2 cores", date="2026-11-17",
                  commit="0a1b2c3d", load=0.2, rows=list(rows))  # fmt: skip


SHOP = {
    "shop": record(
        Row("sales", 1234.5, "/s", "≥ 1,000", True),
        Row("  of them returned", 0.123, ""),
        Row("reads in 4,711 rooms, p50", 2.0, "ms", "≤ 1", False, "a busy day"),
    )
}


@pytest.mark.shows("EVIDENCE-PAGES")
@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_every_figure_of_a_page_is_the_recorded_one(path: Path) -> None:
    page = path.read_text("utf-8")
    assert page == figures.updated(page, figures.maker(records.read()))


@pytest.mark.shows("EVIDENCE-PAGES")
def test_the_headline_and_the_first_table_of_the_readme_are_recorded() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    assert figures.names(page) == ["benefit", "readme", "compared"]
    assert "measured:" not in figures.outside(page)


@pytest.mark.shows("EVIDENCE-PAGES")
@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_no_table_of_a_page_has_figures_that_are_not_recorded(path: Path) -> None:
    """Except pages about experiments, and tables that another test compares with their source."""
    if path.name in EXPERIMENTS:
        return
    lines = figures.outside(path.read_text("utf-8")).splitlines()
    heads = [line for line, under in pairwise(lines) if under.startswith("|---")]
    assert [head for head in heads if MEASURED_HEAD.search(head)] == []


@pytest.mark.shows("EVIDENCE-PAGES")
def test_every_record_is_shown_on_the_evidence_page_with_its_chart() -> None:
    page = (DOCS / "evidence.md").read_text("utf-8")
    found = records.read()
    blocks = figures.names(page)
    assert {"missing", "sections"} < set(blocks)
    tables = {name.removeprefix("table ") for name in blocks if name.startswith("table ")}
    assert tables.isdisjoint(SECTIONS)
    assert set(found) == tables | (set(SECTIONS) & set(found))
    for name in DRAWINGS:
        if name in found:
            image = image_name(name)
            assert f"(images/{image})" in page
            assert (DOCS / "images" / image).is_file()


@pytest.mark.shows("EVIDENCE-PAGES")
def test_every_benchmark_has_a_place_on_the_evidence_page() -> None:
    blocks = figures.names((DOCS / "evidence.md").read_text("utf-8"))
    tables = {name.removeprefix("table ") for name in blocks if name.startswith("table ")}
    assert {*BENCHMARKS, "retrieval"} <= tables | set(SECTIONS)
    assert set(SECTIONS) <= set(BENCHMARKS)


def test_a_new_record_brings_its_section_and_its_chart() -> None:
    page = (
        "<!-- evidence: missing -->\n<!-- end of evidence -->\n"
        "<!-- evidence: sections -->\n<!-- end of evidence -->\n"
    )
    before = figures.updated(page, figures.maker({}))
    assert "`store`" in before
    assert "##" not in before
    found = {name: record(Row("sales", 3.0, "/s"), name=name) for name in ("store", "index_growth")}
    after = figures.updated(before, figures.maker(found))
    assert "`store`" not in after.split("## ")[0]
    assert after.count("| sales | 3 /s |") == 2
    assert after.index("## Store") < after.index("(images/evidence-index-growth.svg)")
    assert "## Sync" not in after
    every = {name: record(Row("sales", 3.0, "/s"), name=name) for name in SECTIONS}
    assert "Every benchmark is recorded." in figures.updated(after, figures.maker(every))


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_can_be_run_by_its_name_and_saves_under_it(name: str) -> None:
    module = ROOT / "bench" / f"{name}.py"
    path = module if module.is_file() else module.with_suffix("") / "__main__.py"
    text = path.read_text("utf-8")
    assert '__name__ == "__main__"' in text
    assert re.search(rf'(?:save|report)\(\s*"{name}"', text)


def test_a_figure_is_the_value_of_its_row_in_the_form_asked_for() -> None:
    template = (
        "{{shop: sales | ,.0f}} of {{shop: sales | goal}}, {{shop: sales > of them returned | %}} %"
    )
    assert figures.fill(template, SHOP) == "1,234 of ≥ 1,000, 12 %"
    assert figures.fill("{{shop: reads in* | .1f}}", SHOP) == "2.0"


def test_a_figure_may_be_the_cost_at_the_smallest_or_largest_size() -> None:
    row = Row("build", 1.0, "", points=((10, 8.76), (90, 1234.5)))
    assert figures.formatted(row, "first .1f") == "8.8"
    assert figures.formatted(row, "last ,.0f") == "1,234"
    with pytest.raises(ValueError, match="'sales' has no points"):
        figures.formatted(Row("sales", 1.0, ""), "last .1f")


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{shop: rent}}", "has 0 rows 'rent'; its rows: sales; sales > of them returned"),
        ("{{shop: *}}", "has 2 rows"),
        ("{{bank: sales}}", "no record 'bank'"),
        ("{{shop}}", "not a figure"),
    ],
)
def test_a_figure_that_no_record_has_is_an_error(template: str, problem: str) -> None:
    with pytest.raises((KeyError, ValueError), match=re.escape(problem)):
        figures.fill(template, SHOP)


def test_a_table_says_which_goals_were_missed() -> None:
    assert figures.table(SHOP["shop"]).splitlines()[2:] == [
        "| sales | 1,234 /s | ≥ 1,000 | met |",
        "| of them returned | 0.12 |  |  |",
        "| reads in 4,711 rooms, p50 | 2 ms (a busy day) | ≤ 1 | **missed** |",
    ]


def test_only_blocks_of_a_page_are_written() -> None:
    page = "12 apples\n<!-- evidence: fruit -->\nold\n<!-- end of evidence -->\nand 3 pears\n"
    new = figures.updated(page, lambda name: f"new {name}")
    assert new == page.replace("old", "new fruit")
    assert figures.outside(page) == "12 apples\n\nand 3 pears\n"


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    records.write(SHOP["shop"], tmp_path)
    assert records.read(tmp_path) == SHOP
    (tmp_path / "shop.json").write_text(
        (tmp_path / "shop.json").read_text().replace('"version": 1', '"version": 2')
    )
    with pytest.raises(ValueError, match=r"shop\.json is holdfast-evidence 2"):
        records.read(tmp_path)


@pytest.mark.long
def test_charts_show_every_series_and_are_the_same_twice() -> None:
    found = {
        "savings": record(
            Row("contexts, pi: saved", 29.5, "%"), Row("contexts, pi: possible", 30.5, "%"),
        ),
        "retrieval": record(Row("plain, holdfast", 0.9, ""), Row("plain, bm25", 0.6, "")),
        "growth": record(Row("diff: exponent", 0.1, "", points=((1e3, 1.0), (1e4, 1.3)))),
    }  # fmt: skip
    drawn = dict(images(found))
    assert drawn == dict(images(found))
    assert "contexts, pi" in drawn["evidence-savings.svg"]
    assert "holdfast" in drawn["evidence-retrieval.svg"]
    assert "diff (0.10)" in drawn["evidence-growth.svg"]


def test_a_benchmark_without_its_input_is_left_as_recorded() -> None:
    assert BENCHMARKS["savings"].arguments(Inputs()) is None
    assert BENCHMARKS["savings"].arguments(Inputs(traces=Path("t"))) == ["--traces", "t"]
    assert BENCHMARKS["clones"].arguments(Inputs(tree=Path("t"))) is None
    assert BENCHMARKS["store"].arguments(Inputs()) == ()


def test_a_campaign_becomes_a_row_of_tries_and_one_of_problems() -> None:
    found = {"name": "flips", "kind": "fuzz", "tried": 1_200, "seconds": 90.0,
             "outcomes": {"same": 200, "refused": 1_000}}  # fmt: skip
    results = {"minutes": 4.0, "machine": "2 cores", "commit": "0a1b2c3d4e"}
    campaigns = records.of_campaigns(
        {**results, "campaigns": [found | {"problems": ["a traceback"]}]}
    )
    assert [(row.what, row.value, row.met, row.note) for row in campaigns.rows] == [
        ("flips: tried", 1_200, None, "same 200, refused 1,000"),
        ("  problems", 1, False, ""),
        ("all campaigns of the kind fuzz, one after the other", 1.5, None, ""),
    ]
    said = "`python -m tests.hostile --minutes 4`, commit 0a1b2c3d, 2 cores."
    assert figures.origin(campaigns) == said


def test_a_retrieval_report_becomes_a_row_for_each_system() -> None:
    report: dict[str, object] = {
        "systems": {
            "holdfast": {"queries": 3, "path_ndcg10": 0.8, "path_ndcg10_95": [0.7, 0.9]},
            "bm25": {"queries": 3, "path_ndcg10": 0.6, "path_ndcg10_95": [0.4, 0.6]},
            "semble": {"queries": 0},
        }
    }
    rows = retrieval_rows("plain", report)
    assert [(row.what, row.value, row.note) for row in rows] == [
        ("plain, holdfast", 0.8, "3 questions, 95% 0.700 to 0.900"),
        ("plain, bm25", 0.6, "3 questions, 95% 0.400 to 0.600"),
    ]


def test_every_set_of_questions_is_recorded_under_its_own_name() -> None:
    labels = [one.label for one in RETRIEVAL_SETS]
    assert len(set(labels)) == len(labels)
    sets = ROOT / "bench" / "retrieval" / "sets"
    assert {one.name for one in RETRIEVAL_SETS} == {path.stem for path in sets.glob("*.json")}
