"""The six unit tests of positions and checkpoints, and what keeps them true."""

import ast
from itertools import permutations
from pathlib import Path

import pytest

import holdfast.sequence
from holdfast.sequence.compare import CompareState, MatchResult, Verdict
from holdfast.sequence.cursor import Candidate, Checkpointed, Matched, Mismatched, TokenPath
from holdfast.sequence.graph import Graph
from holdfast.sequence.response import EndReason
from holdfast.sequence.search import Clear, SearchState, beginning
from tests.sequence.graphs import Env

SOURCE = Path(holdfast.sequence.__file__).parent


@pytest.mark.shows("SEQ-TEST-CANDIDATE", "SEQ-PHASE1-TRANSITION", "SEQ-PHASE1-CONTRACT")
def test_candidate_to_matched_position() -> None:
    env = Env("ab=a b; abc=ab c")
    query = tuple(env("ab c"))
    first = Candidate(TokenPath(query, 0), 0)
    matched = first.mark_match(env.graph)
    assert (matched.place.index, matched.position) == (0, 2)
    second = matched.advance(env.graph)
    assert second == Candidate(TokenPath(query, 1), 2), "PAST ab is AT c"
    assert second.mark_match(env.graph).position == 3
    index = Candidate(TokenPath(env.graph.patterns(env.ids["abc"])[0], 0), 0)
    assert index.mark_match(env.graph).position == matched.position


@pytest.mark.shows("SEQ-TEST-MARK-MATCH", "SEQ-PHASE1-MARK", "SEQ-PHASE3-LOCAL")
def test_mark_match_semantics() -> None:
    env = Env("ab=a b; abc=ab c")
    query = tuple(env("ab c"))
    before = Checkpointed(Candidate(TokenPath(query, 1), 2), Matched(TokenPath(query, 0), 2))
    after = before.mark_match(env.graph)
    assert after.checkpoint == after.current == Matched(TokenPath(query, 1), 3)
    failed = before.mark_mismatch()
    assert failed.checkpoint == before.checkpoint
    assert failed.current == Mismatched(TokenPath(query, 1), 2)


@pytest.mark.shows("SEQ-TEST-QUERY-EXHAUSTED", "SEQ-PHASE1-ADHOC")
def test_advance_query_exhausted() -> None:
    env = Env("ab=a b; abc=ab c")
    matched = Matched(TokenPath(tuple(env("ab c")), 1), 3)
    assert Checkpointed(matched, matched).advance(env.graph) is None
    assert matched.position == 3, "no width is added a second time"


@pytest.mark.shows("SEQ-TEST-INDEX-EXHAUSTED")
def test_advance_index_exhausted() -> None:
    env = Env("ab=a b; abc=ab c; abcx=abc x")
    state = SearchState(env.graph, beginning(env("a b c x")))
    ended = [r for r in state.results() if r.reason is EndReason.CHILD_EXHAUSTED]
    assert [env.graph.name(r.root) for r in ended] == ["ab", "abc"]
    assert [r.position for r in ended] == [2, 3]
    assert [r.candidate and r.candidate.position for r in ended] == [2, 3]
    answer = state.response()
    assert (env.graph.name(answer.root), answer.position) == ("abcx", 4)


@pytest.mark.shows("SEQ-TEST-PARALLEL", "SEQ-PHASE3-BRANCH")
@pytest.mark.parametrize("lines", list(permutations(["abx=ab x", "aby=ab y"])))
def test_parallel_candidates_independent(lines: tuple[str, ...]) -> None:
    env = Env("; ".join(["ab=a b", *lines, "abxc=abx c"]), "abcxy")
    state = SearchState(env.graph, beginning(env("a b x c")))
    answer = state.run()
    assert (env.graph.name(answer.root), answer.position) == ("abxc", 4)
    assert answer.query_exhausted


@pytest.mark.shows("SEQ-TEST-GLOBAL", "SEQ-PHASE2-WRITE", "SEQ-PHASE2-OWNER")
@pytest.mark.parametrize("lines", list(permutations(["abc=a b c", "abx=a b x"])))
def test_global_checkpoint_best_match(lines: tuple[str, ...]) -> None:
    env = Env("; ".join(lines), "abcx")
    state = SearchState(env.graph, beginning(env("a b x")), clear=Clear.NEVER)
    results = list(state.results())
    best = state.best_checkpoint
    assert best is not None
    assert (env.graph.name(best.root), best.position, best.exhausted) == ("abx", 3, True)
    for worse in results:
        assert not state.offer(worse), "neither a worse nor an equal result replaces the best"
    assert state.best_checkpoint is best


@pytest.mark.shows("SEQ-PHASE2-WRITE")
def test_of_two_results_as_long_the_one_at_the_end_of_the_query_wins() -> None:
    env = Env("abc=a b c; abx=a b x", "abcx")
    state = SearchState(env.graph, beginning(env("a b x")), clear=Clear.NEVER)
    (found, *_) = list(state.results())[-1:]
    open_end = MatchResult(found.state, EndReason.MISMATCH)
    assert found.better_than(open_end)
    assert not open_end.better_than(found)


def _compared_roots(monkeypatch: pytest.MonkeyPatch, env: Env) -> list[str]:
    """Collects the name of the root of every comparison that is made from now on."""
    roots: list[str] = []
    plain = CompareState.compare

    def recording(self: CompareState, graph: Graph) -> Verdict | list[CompareState]:
        roots.append(env.graph.name(self.root))
        return plain(self, graph)

    monkeypatch.setattr(CompareState, "compare", recording)
    return roots


@pytest.mark.shows("SEQ-PHASE2-READ")
def test_a_root_that_ends_before_the_best_match_is_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Branches once had no way to see the best result, and compared every root to its end."""
    env = Env("abcd=a b c d; wxyzab=w x y z a b; vwxyabc=v w x y a b c", "abcdevwxyz")
    compared = _compared_roots(monkeypatch, env)
    answer = SearchState(env.graph, beginning(env("a b c d e")), clear=Clear.NEVER).run()
    assert (env.graph.name(answer.root), answer.position) == ("abcd", 4)
    assert set(compared) == {"abcd"}


@pytest.mark.shows("SEQ-PHASE2-READ")
def test_a_root_that_can_still_be_as_long_as_the_best_match_is_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = Env("abcx=a b c x; wxyzabcd=w x y z a b c d", "abcdwxyz")
    compared = _compared_roots(monkeypatch, env)
    answer = SearchState(env.graph, beginning(env("a b c d")), clear=Clear.NEVER).run()
    assert (env.graph.name(answer.root), answer.query_exhausted) == ("wxyzabcd", True)
    assert set(compared) == {"abcx", "wxyzabcd"}


@pytest.mark.shows("SEQ-PHASE2-READ")
def test_every_branch_reads_the_one_best_checkpoint_of_its_search() -> None:
    env = Env("abx=a b x; abcy=a b c y; abcd=a b c d", "abcdxy")
    state = SearchState(env.graph, beginning(env("a b c d")), clear=Clear.NEVER)
    branch = next(iter(state.matches)).state
    assert branch.best.result is None, "nothing was offered yet"
    other = SearchState(env.graph, beginning(env("a b c d")), clear=Clear.NEVER)
    other.run()
    found = other.best_checkpoint
    assert found is not None
    state.offer(found)
    assert branch.best.result is found is state.best_checkpoint
    assert list(state.matches) == [], "no branch goes on once the whole query is found"


def _functions_that(wanted: str) -> set[str]:
    """`module.function` of every place in the package whose syntax tree contains `wanted`."""
    found = set()
    for path in sorted(SOURCE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for inner in ast.walk(node):
                    if _describes(inner) == wanted:
                        found.add(f"{path.stem}.{node.name}")
    return found


def _describes(node: ast.AST) -> str | None:
    match node:
        case (
            ast.Assign(targets=[ast.Attribute(attr="result")])
            | ast.AnnAssign(target=ast.Attribute(attr="result"))
        ):
            return "writes the best checkpoint"
        case ast.Call(func=ast.Name(id="Matched")):
            return "makes a match"
        case (
            ast.Assign(targets=[ast.Attribute(attr=name)])
            | ast.AugAssign(target=ast.Attribute(attr=name))
        ) if name in ("position", "checkpoint", "best_checkpoint"):
            return "assigns a position or a checkpoint"
        case ast.keyword(arg=name) if name in ("position", "checkpoint"):
            return "passes a position or a checkpoint by name"
    return None


@pytest.mark.shows("SEQ-SUCCESS-NO-SYNC", "SEQ-PHASE3-NO-SYNC")
def test_no_source_line_synchronises_checkpoints_by_hand() -> None:
    """Positions were once patched in several places, each for one path through the code."""
    assert _functions_that("makes a match") == {"cursor.mark_match"}
    assert _functions_that("writes the best checkpoint") == {"search.offer"}
    assert _functions_that("assigns a position or a checkpoint") == set()
    assert _functions_that("passes a position or a checkpoint by name") <= {"search.response"}
