"""Which lines of a hit are shown."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.search.comment_lines import comment_lines
from holdfast.index.search.preview import Asked, asked_in, preview, terms_in, whole_code
from holdfast.index.search.regex import lines_of

WORDS = ["retries", "retry_delay", "RetryDelay", "delays", "delayed", "größe", "x", "2delay", "y"]
SIGNS = [" ", "\n", "\n# ", "\n// ", " = ", "(", ").", "\t", "\r\n"]
TEXTS = st.lists(st.sampled_from(WORDS + SIGNS), max_size=40).map("".join)
ASKED = Asked({"retri": 1.0, "delai": 1.0, "delay": 1.0, "retrydelay": 1.0, "größe": 0.5})


@given(TEXTS)
def test_the_asked_terms_of_a_text_are_among_all_its_terms(text: str) -> None:
    assert asked_in(text, ASKED) == ASKED.terms & terms_in(text)


@given(TEXTS)
def test_comments_are_left_out_that_say_nothing_new(text: str) -> None:
    lines = [line.removesuffix("\r") for line in lines_of(text.rstrip())]
    comments = comment_lines(lines, "python")
    code = "\n".join(line for i, line in enumerate(lines) if i not in comments)
    met = ASKED.terms & terms_in(code)
    shown = []
    for i, line in enumerate(lines):
        new = (ASKED.terms & terms_in(line)) - met if i in comments else set()
        met |= new
        if new or i not in comments:
            shown.append(i + 1)
    found = whole_code(text, 1, ASKED, "python")
    assert [number for number, _ in found.lines] == shown


def test_a_matching_line_is_shown_with_the_condition_just_above_it() -> None:
    """The throw was shown, and not when it is thrown."""
    rows = [f"step_{n} = {n};" for n in range(30)]
    rows[14:16] = ["if (size > 0xffff - 8)", '    throw Error(kTooLarge, "segment");']
    asked = Asked({"larg": 1.0, "large": 1.0, "segment": 1.0})
    shown = preview("\n".join(rows), 1, asked, 4, "write")
    assert (15, "if (size > 0xffff - 8)") in shown.lines
    alone = preview("\n".join(rows), 1, asked, 1)
    assert [number for number, _ in alone.lines] == [16]
