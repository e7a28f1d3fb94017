"""Which answers the log of a session does not have yet."""

from __future__ import annotations

import pytest

from holdfast.reading.events import Anchored, Event
from holdfast.reading.scope import Lines
from holdfast.reading.trust import Ledger
from holdfast.reading.unlogged_answers import FILES_MAX, UnloggedAnswers
from tests.reading.replay import replay

A = "/a.py"
KEY = ("log", A)
OLD, NEW = "0" * 64, "1" * 64
SHOWN_OLD: Event = Anchored(A, Lines(1, 9), OLD)


def log(*events: Event) -> Ledger:
    return replay([(str(number), event) for number, event in enumerate(events)])


@pytest.mark.shows("READ-UNSEEN")
def test_an_answer_counts_until_the_log_has_it() -> None:
    answers = UnloggedAnswers()
    answers.add(KEY, OLD, log())
    assert answers.with_other_text(KEY, NEW, log())
    assert not answers.with_other_text(KEY, OLD, log())
    assert not answers.with_other_text(KEY, NEW, log(SHOWN_OLD))


def test_of_two_answers_with_one_text_both_must_be_in_the_log() -> None:
    answers = UnloggedAnswers()
    answers.add(KEY, OLD, log(SHOWN_OLD))
    answers.add(KEY, OLD, log(SHOWN_OLD))
    assert answers.with_other_text(KEY, NEW, log(SHOWN_OLD, SHOWN_OLD))
    assert not answers.with_other_text(KEY, NEW, log(SHOWN_OLD, SHOWN_OLD, SHOWN_OLD))


def test_a_log_that_lost_answers_has_begun_another_turn() -> None:
    answers = UnloggedAnswers()
    answers.add(KEY, OLD, log(SHOWN_OLD))
    assert not answers.with_other_text(KEY, NEW, log())


def test_other_files_and_logs_do_not_count() -> None:
    answers = UnloggedAnswers()
    answers.add(KEY, OLD, log())
    assert not answers.with_other_text(("log", "/b.py"), NEW, log())
    assert not answers.with_other_text(("other", A), NEW, log())


def test_the_number_of_files_is_bounded() -> None:
    answers = UnloggedAnswers()
    for number in range(FILES_MAX + 1):
        answers.add(("log", f"/{number}"), OLD, log())
    assert not answers.with_other_text(("log", "/0"), NEW, log())
    assert answers.with_other_text(("log", "/1"), NEW, log())
