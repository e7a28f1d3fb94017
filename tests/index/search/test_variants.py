"""Which file is a variant of which, from their names alone."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.index.search.query_analysis import analyze
from holdfast.index.search.variants import is_variant, name_parts, originals_first, words_of


@pytest.mark.shows("SEARCH-SIGNAL-VARIANT")
@pytest.mark.parametrize(
    ("query", "name", "original", "expected"),
    [
        ("sending mails", "TraceableMailer.php", "Mailer.php", True),
        ("sending mails", "static-mailer.js", "mailer.js", True),
        ("how are mails traced", "TraceableMailer.php", "Mailer.php", False),
        ("sending mails", "MailerRegistry.php", "Mailer.php", False),
        ("Mailer", "Mailer_Header.cs", "Mailer.cs", True),
        ("Mailer", "MailerHeader.cs", "Mailer.cs", True),
        ("Mailer header", "Mailer_Header.cs", "Mailer.cs", False),
        ("open a socket", "TraceableMailer.php", "Mailer.php", False),
        ("sending mails", "Mailer.php", "Mailer.php", False),
        ("sending mails", "Mailer.php", "TraceableMailer.php", False),
    ],
)
def test_a_variant_has_more_words_in_front_that_the_query_lacks(
    query: str, name: str, original: str, expected: bool
) -> None:
    analyzed = analyze(query)
    found = is_variant(
        name_parts(f"src/{name}"),
        name_parts(f"src/{original}"),
        words_of(analyzed),
        analyzed.kind == "symbol",
    )
    assert found is expected


@pytest.mark.shows("SEARCH-SIGNAL-VARIANT")
def test_only_the_best_chunks_change_places_and_only_if_the_original_is_nearly_as_good() -> None:
    paths = ["src/TraceableMailer.php", "src/Mailer.php", "lib/Mailer.php"]
    files = np.array([0, 0, 1, 1, 2])
    scores = np.array([1.0, 0.9, 0.5, 0.85, 0.7])
    asked = analyze("sending mails")
    found = originals_first(scores, files, paths, asked, 0.8)
    assert found.tolist() == [0.85, 0.9, 0.5, 1.0, 0.7]
    assert originals_first(scores, files, paths, asked, 0.9).tolist() == scores.tolist()


@pytest.mark.shows("SEARCH-SIGNAL-VARIANT")
def test_a_variant_in_another_folder_stays_where_it_is() -> None:
    paths = ["src/TraceableMailer.php", "lib/Mailer.php"]
    scores = np.array([1.0, 0.95])
    found = originals_first(scores, np.array([0, 1]), paths, analyze("sending mails"), 0.8)
    assert found.tolist() == [1.0, 0.95]
