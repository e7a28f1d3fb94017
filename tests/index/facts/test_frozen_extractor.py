"""A parsing process that is stopped (SIGSTOP) is replaced, and the caller gets its answer."""

from __future__ import annotations

import os
import signal
from functools import partial

import pytest

from holdfast.index.facts import extractor, trial_parse
from tests.threads import let_fork


@pytest.fixture(autouse=True)
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    let_fork(monkeypatch)


@pytest.mark.long
@pytest.mark.shows("SEC-FROZEN-WORKER")
def test_a_frozen_parsing_process_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that needed it never ended."""
    # Longer than a pipe holds, so that writing to the frozen process would wait, too.
    source = b"def total():\n    return 1\n" + b"price = 1\n" * 9_000
    monkeypatch.setattr(extractor, "LOOK_S", 0.02)
    made = extractor.Extractor()
    try:
        before = made.extract("shop.py", source)
        (process,) = made._idle
        os.kill(process._process.pid, signal.SIGSTOP)
        assert made.extract("shop.py", source) == before
        assert [symbol.name for symbol in before.symbols][:1] == ["total"]
        with pytest.raises(ProcessLookupError):
            os.kill(process._process.pid, 0)
    finally:
        made.close()


@pytest.mark.shows("SEC-FROZEN-WORKER")
def test_a_parsing_process_that_is_stopped_while_it_starts_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extractor, "LOOK_S", 0.02)
    monkeypatch.setattr(extractor, "serve", stopped_at_start)
    made = extractor.Extractor()
    facts = made.extract("shop.py", b"def total():\n    return 1\n")
    assert [symbol.name for symbol in facts.symbols] == ["total"]
    assert made._idle == []


@pytest.mark.shows("SEC-FROZEN-WORKER")
def test_a_stopped_trial_process_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock of trials was held by a call that never ended."""
    monkeypatch.setattr(trial_parse, "_Trial", partial(trial_parse._Trial, look_s=0.02))
    monkeypatch.setattr(trial_parse, "_trial", None)
    grammar = ("tree_sitter_python", "language")
    # Longer than a pipe holds, so that writing to the frozen process would wait, too.
    source = b"price = 1\n" * 9_000
    try:
        assert trial_parse.passes(grammar, source, 5.0) is True
        frozen = trial_parse._trial
        assert frozen is not None
        os.kill(frozen._process.pid, signal.SIGSTOP)
        assert trial_parse.passes(grammar, source, 5.0) is True
        assert trial_parse._trial is not frozen
        with pytest.raises(ProcessLookupError):
            os.kill(frozen._process.pid, 0)
        monkeypatch.setattr(trial_parse, "serve", stopped_at_start)
        assert trial_parse._trial is not None
        trial_parse._trial.end()
        monkeypatch.setattr(trial_parse, "_trial", None)
        assert trial_parse.passes(grammar, source, 5.0) is None, "as where no trial is possible"
    finally:
        if trial_parse._trial is not None:
            trial_parse._trial.end()


def stopped_at_start() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def deaf() -> None:
    os.write(1, b"r")
    while True:
        pass


@pytest.mark.shows("SEC-FROZEN-WORKER")
def test_a_parsing_process_that_works_without_end_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extractor, "LOOK_S", 0.02)
    monkeypatch.setattr(extractor, "ANSWER_S", 1.0)  # enough for a busy machine to start it
    monkeypatch.setattr(extractor, "serve", deaf)
    made = extractor.Extractor()
    facts = made.extract("shop.py", b"def total():\n    return 1\n")
    assert facts.symbols == ()
    assert [problem.code for problem in facts.problems] == ["too_hard"]
