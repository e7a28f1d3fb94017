"""A set may be spelled in several ways, and a bad one is refused with its place."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from bench.retrieval.labels import BadSet, LabelledSet, Target, parse_set, read_set, within

HERE = Path(__file__).parent
SETS = HERE.parent.parent / "bench" / "retrieval" / "sets"
PLACE = Path("/sets/some.json")
ANSWER = Target("src/cart.py", 3, 9)


def one_query(**fields: Any) -> Any:
    return {"repositories": [{"id": "shop", "path": "shop"}],
            "queries": [{"repository": "shop", "query": "price", **fields}]}  # fmt: skip


@pytest.mark.shows("RETR-SET-FORM")
@pytest.mark.parametrize(
    "relevant",
    [
        ["src/cart.py:3-9"],
        "src/cart.py:3-9",
        ["src/cart.py#L3-L9"],
        ["./src/cart.py:3-9"],
        ["src\\cart.py:3-9"],
        [{"path": "src/cart.py", "lines": [3, 9]}],
        [{"file": "src/cart.py", "start_line": 3, "end_line": 9}],
        [{"file_path": "src/cart.py", "span": {"start": 3, "end": 9}}],
        [{"filename": "src/cart.py", "spans": [[3, 9]], "note": "an unknown field"}],
        [{"path": "src/cart.py", "lines": "3-9", "relevance": 1}],
        {"src/cart.py": [3, 9]},
        {"path": "src/cart.py", "startLine": 3, "endLine": 9},
    ],
)
def test_a_label_may_be_spelled_in_many_ways(relevant: Any) -> None:
    (query,) = parse_set(one_query(relevant=relevant), PLACE).queries
    assert query.targets == (ANSWER,)


@pytest.mark.shows("RETR-SET-FORM")
@pytest.mark.parametrize(
    "spelled",
    [
        [{"repo": "shop", "question": "price", "gold": ["src/cart.py:3-9"], "type": "symbol"}],
        {"repo": "shop", "data": [{"text": "price", "files": "src/cart.py:3-9", "kind": "symbol"}]},
        {"repos": {"shop": "shop"},
         "questions": [{"codebase": "shop", "q": "price", "targets": ["src/cart.py:3-9"],
                        "category": "symbol"}]},
        {"repositories": [{"path": "shop", "queries": [
            {"query": "price", "path": "src/cart.py", "start": 3, "end": 9, "type": "symbol"}]}]},
        {"repositories": ["shop"],
         "queries": [{"query": "price", "relevant": "src/cart.py:3-9", "category": "symbol"}]},
    ],
)  # fmt: skip
def test_a_set_may_be_spelled_in_many_ways(spelled: Any) -> None:
    labelled = parse_set(spelled, PLACE)
    (query,) = labelled.queries
    assert (query.text, query.targets, query.category) == ("price", (ANSWER,), "symbol")
    (repository,) = labelled.repositories
    assert repository.path == PLACE.parent / "shop"


@pytest.mark.shows("RETR-SET-FORM")
def test_grades_are_kept_and_what_is_graded_nothing_is_no_answer() -> None:
    relevant = {"a.py": 3, "b.py": 0, "c.py": 1.5}
    (query,) = parse_set(one_query(relevant=relevant), PLACE).queries
    assert query.targets == (Target("a.py", grade=3.0), Target("c.py", grade=1.5))


@pytest.mark.shows("RETR-SET-FORM")
def test_also_relevant_places_count_beside_the_others() -> None:
    fields = one_query(relevant=["a.py"], secondary=["b.py"])
    (query,) = parse_set(fields, PLACE).queries
    assert [target.path for target in query.targets] == ["a.py", "b.py"]


@pytest.mark.shows("RETR-SET-FORM")
def test_an_absolute_path_stays_and_json_lines_are_read(tmp_path: Path) -> None:
    rows = [{"repo_path": str(tmp_path), "query": f"q{n}", "relevant": ["a.py"]} for n in (1, 2)]
    file = tmp_path / "set.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    labelled = read_set(file)
    assert [query.text for query in labelled.queries] == ["q1", "q2"]
    assert [repository.path for repository in labelled.repositories] == [tmp_path]


@pytest.mark.shows("RETR-SET-FORM")
def test_a_directory_of_sets_is_one_set(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps(
            [{"repo": name, "query": "x", "relevant": ["a.py"]}]))  # fmt: skip
    assert [q.repository for q in read_set(tmp_path).queries] == ["one", "two"]


@pytest.mark.shows("RETR-SET-BAD")
@pytest.mark.parametrize(
    ("value", "place", "problem"),
    [
        (one_query(), "queries[0]", "nothing relevant"),
        (one_query(relevant=[]), "queries[0]", "nothing relevant"),
        (one_query(relevant=[7]), "queries[0].relevant[0]", "neither a path nor an object"),
        (one_query(relevant=[{"lines": [1, 2]}]), "queries[0].relevant[0]", "has no path"),
        (one_query(relevant=["a.py:9-3"]), "queries[0].relevant[0].lines", "name no line"),
        (one_query(relevant=["../a.py"]), "queries[0].relevant[0]", "names no file"),
        (one_query(relevant=[{"path": "a", "lines": [1]}]), "queries[0].relevant[0].lines", "pair"),
        (
            one_query(relevant=[{"path": "a", "grade": "high"}]),
            "queries[0].relevant[0].grade",
            "no",
        ),
        ({"queries": [{"repo": "s", "relevant": ["a"]}]}, "queries[0]", "has no text"),
        ({"queries": [{"query": "x", "relevant": ["a"]}]}, "queries[0]", "names no repository"),
        ({"queries": [3]}, "queries[0]", "is no object"),
        ({"queries": {}}, "", "has no queries"),
        ({"format": "holdfast-retrieval", "version": 9, "queries": []}, "version", "9"),
        ({"format": "beir", "queries": []}, "format", "beir"),
        ("text", "", "neither"),
    ],
)
def test_a_bad_set_is_refused_with_its_place(value: Any, place: str, problem: str) -> None:
    with pytest.raises(BadSet) as told:
        parse_set(value, PLACE)
    assert told.value.place == f"some.json {place}".rstrip()
    assert problem in told.value.problem


@pytest.mark.shows("RETR-SET-BAD")
def test_a_file_that_is_no_json_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "set.json"
    file.write_text('{"queries": [\n  {"query": }\n]}')
    with pytest.raises(BadSet, match=r"set\.json line 2 column"):
        read_set(file)


@pytest.mark.shows("RETR-SPLITS")
def test_a_part_of_a_set_is_chosen_by_split_repository_and_number() -> None:
    labelled = parse_set(
        {"repositories": {"a": {"path": "a", "split": "dev"}, "b": {"path": "b", "split": "test"}},
         "queries": [{"repo": r, "query": f"{r}{n}", "relevant": ["x"]}
                     for n in range(3) for r in "ab"]}, PLACE,
    )  # fmt: skip
    assert [q.text for q in labelled.chosen("test").queries] == ["b0", "b1", "b2"]
    assert [q.text for q in labelled.chosen("", ["a"], 2).queries] == ["a0", "a1"]
    assert len(labelled.chosen("dev,test").queries) == 6


@pytest.mark.shows("RETR-DEVELOPMENT-SET", "RETR-SPLITS")
def test_the_development_set_is_large_varied_and_split_by_repository() -> None:
    labelled = read_set(HERE.parent.parent / "bench/retrieval/sets/development.json")
    assert len(labelled.queries) >= 400
    assert len({str(r.package) for r in labelled.repositories}) >= 20
    assert len({query.language for query in labelled.queries}) >= 15
    by_hand = [q for q in labelled.queries if q.category not in ("documentation", "change")]
    assert len(by_hand) >= 150
    assert {r.split for r in labelled.repositories} == {"train", "dev", "test"}
    texts = [(query.repository, query.text) for query in labelled.queries]
    assert len(texts) == len(set(texts))
    listed = json.loads((HERE.parent.parent / "bench/retrieval/repositories.json").read_text())
    told = {entry["id"]: entry for entry in listed["repositories"]}
    for repository in labelled.repositories:
        assert repository.package is not None
        name = repository.id.removesuffix("-undocumented")
        assert repository.split == told[name]["split"]
        assert repository.package == told[name]["package"]
        assert repository.package["kind"] == "git" or len(repository.package["sha256"]) == 64


@pytest.mark.shows("RETR-DEVELOPMENT-SET", "RETR-SPLITS")
def test_the_plain_questions_are_asked_of_packages_that_may_be_tuned_on() -> None:
    plain = read_set(HERE.parent.parent / "bench/retrieval/sets/plain.json")
    assert len(plain.queries) >= 100
    assert not plain.problems
    assert {repository.split for repository in plain.repositories} == {"train", "dev"}
    assert {query.repository for query in plain.queries} == {r.id for r in plain.repositories}


@pytest.mark.shows("RETR-SET-BAD")
def test_a_bad_question_among_good_ones_is_left_out_and_named() -> None:
    good = {"repo": "s", "query": "x", "relevant": ["a.py"]}
    read = parse_set([good, {**good, "query": " "}, {**good, "relevant": ["a.py:0-3"]}], PLACE)
    assert [query.text for query in read.queries] == ["x"]
    assert [problem.split(":")[0] for problem in read.problems] == [
        "some.json queries[1]",
        "some.json queries[2].relevant[0].lines",
    ]


def test_a_home_that_nobody_has_is_only_a_name() -> None:
    read = parse_set([{"repo": "~no-such-user-at-all/x", "query": "x", "relevant": ["a"]}], PLACE)
    assert read.repositories[0].path is not None


def test_a_label_may_say_its_repository_too(tmp_path: Path) -> None:
    tree = tmp_path / "shop"
    for path in ("src/cart.py", "shop/inner.py"):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).touch()
    told = {
        "src/cart.py": "src/cart.py",
        "shop/src/cart.py": "src/cart.py",
        "owner/shop/src/cart.py": "src/cart.py",
        str(tree / "src/cart.py"): "src/cart.py",
        "shop/inner.py": "shop/inner.py",
        "shop/gone.py": "shop/gone.py",
        "elsewhere/src/cart.py": "elsewhere/src/cart.py",
    }
    labels = [{"repo": "me/shop", "query": "x", "relevant": [label]} for label in told]
    read = parse_set(labels, PLACE)
    found = [within(tree, "me/shop", query.targets[0]).path for query in read.queries]
    assert found == list(told.values())


def _fresh() -> tuple[LabelledSet, LabelledSet]:
    return read_set(SETS / "fresh.json"), read_set(SETS / "fresh-measured.json")


@pytest.mark.shows("RETR-FRESH-SETS")
def test_the_fresh_sets_are_large_varied_and_balanced() -> None:
    tuned, measured = _fresh()
    assert not tuned.problems
    assert not measured.problems
    queries = (*tuned.queries, *measured.queries)
    repositories = (*tuned.repositories, *measured.repositories)
    assert len(queries) >= 300
    assert len(repositories) >= 25
    assert len({repository.language for repository in repositories}) >= 15
    categories = [query.category for query in queries]
    for category in ("symbol", "behaviour", "architecture"):
        assert categories.count(category) / len(queries) >= 0.32
    assert {repository.split for repository in tuned.repositories} == {"dev"}
    assert {repository.split for repository in measured.repositories} == {"test"}


def _training_packages() -> tuple[set[str], re.Pattern[str]]:
    """The packages that the model was trained on, and the names that are excluded from it."""
    train = SETS.parents[2] / "models" / "train"
    learned = {line.split("\t")[1] for line in (train / "packages.tsv").read_text().splitlines()}
    excluded = re.compile("|".join((train / "excluded.txt").read_text().split()), re.IGNORECASE)
    return learned, excluded


def check_packages_are_new(parts: Iterable[LabelledSet], prefix: str) -> int:
    """No package is there twice, in another set or in the training data; how many there are."""
    names = [
        str(repository.package["name"])
        for part in parts
        for repository in part.repositories
        if repository.package is not None
    ]
    assert len(set(names)) == len(names)
    others = {
        str(repository.package["name"])
        for file in SETS.glob("*.json")
        if not file.name.startswith(prefix)
        for repository in read_set(file).repositories
        if repository.package is not None
    }
    learned, excluded = _training_packages()
    for name in names:
        assert name not in others
        assert name not in learned
        assert excluded.search(name), name
    return len(names)


@pytest.mark.shows("RETR-FRESH-SETS")
def test_no_package_of_the_fresh_sets_is_in_another_set_or_in_the_training_data() -> None:
    check_packages_are_new(_fresh(), "fresh")


def _big() -> tuple[LabelledSet, LabelledSet]:
    return read_set(SETS / "big.json"), read_set(SETS / "big-measured.json")


@pytest.mark.shows("RETR-BIG-SETS")
def test_the_big_sets_are_two_halves_of_questions_about_the_same_three_trees() -> None:
    tuned, measured = _big()
    assert not tuned.problems
    assert not measured.problems
    assert len(tuned.queries) + len(measured.queries) >= 120
    assert abs(len(tuned.queries) - len(measured.queries)) <= 1
    assert {query.id for query in tuned.queries}.isdisjoint(query.id for query in measured.queries)
    trees = [{repository.id for repository in part.repositories} for part in _big()]
    assert trees[0] == trees[1]
    assert len(trees[0]) == 3
    queries = (*tuned.queries, *measured.queries)
    assert all(target.start is None for query in queries for target in query.targets)


@pytest.mark.shows("RETR-BIG-SETS")
def test_no_tree_of_the_big_sets_is_in_another_set_or_in_the_training_data() -> None:
    names = {
        str(repository.package["name"])
        for repository in _big()[0].repositories
        if repository.package is not None
    }
    others = {
        str(repository.package["name"])
        for file in SETS.glob("*.json")
        if not file.name.startswith("big")
        for repository in read_set(file).repositories
        if repository.package is not None
    }
    learned, excluded = _training_packages()
    assert len(names) == 3
    assert names.isdisjoint(others | learned)
    assert all(excluded.search(name) for name in names)


def _probe() -> tuple[LabelledSet, LabelledSet]:
    return read_set(SETS / "probe.json"), read_set(SETS / "probe-measured.json")


@pytest.mark.shows("RETR-PROBE-SETS")
def test_the_probe_sets_ask_about_the_languages_that_do_worst_elsewhere() -> None:
    tuned, measured = _probe()
    assert not tuned.problems
    assert not measured.problems
    assert {query.id for query in tuned.queries}.isdisjoint(query.id for query in measured.queries)
    queries = (*tuned.queries, *measured.queries)
    repositories = {repository.id for part in _probe() for repository in part.repositories}
    assert len(queries) >= 200
    assert len(repositories) >= 10
    languages = {query.language for query in queries}
    assert {"ruby", "rust", "cpp", "csharp", "elixir", "go", "swift", "zig"} <= languages
    for part in _probe():
        categories = [query.category for query in part.queries]
        for category in ("symbol", "behaviour", "architecture"):
            assert categories.count(category) / len(categories) >= 0.27


@pytest.mark.shows("RETR-PROBE-SETS")
def test_no_package_of_the_probe_sets_is_in_the_training_data() -> None:
    """Two of them are other parts of packages that another set asks about."""
    packages = [
        repository.package
        for part in _probe()
        for repository in part.repositories
        if repository.package is not None
    ]
    others = {
        (repository.package["name"], repository.package.get("subdir", ""))
        for file in SETS.glob("*.json")
        if not file.name.startswith("probe")
        for repository in read_set(file).repositories
        if repository.package is not None
    }
    learned, excluded = _training_packages()
    for package in packages:
        assert (package["name"], package.get("subdir", "")) not in others
        assert package["name"] not in learned
        assert excluded.search(str(package["name"])), package["name"]


def _libraries() -> tuple[LabelledSet, LabelledSet]:
    return read_set(SETS / "libraries.json"), read_set(SETS / "libraries-measured.json")


@pytest.mark.shows("RETR-LIBRARY-SETS")
def test_the_library_sets_ask_about_different_packages_in_three_equal_categories() -> None:
    tuned, measured = _libraries()
    queries = (*tuned.queries, *measured.queries)
    assert not tuned.problems
    assert not measured.problems
    assert len(queries) >= 200
    assert len({query.id for query in queries}) == len(queries)
    assert len({query.language for query in queries}) >= 8
    assert all(target.start is None for query in queries for target in query.targets)
    for part in _libraries():
        categories = [query.category for query in part.queries]
        for category in ("symbol", "behaviour", "architecture"):
            assert categories.count(category) / len(categories) >= 0.27


@pytest.mark.shows("RETR-LIBRARY-SETS")
def test_no_package_of_the_library_sets_is_in_another_set_or_in_the_training_data() -> None:
    assert check_packages_are_new(_libraries(), "libraries") >= 15
