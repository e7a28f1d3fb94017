"""Which lines of a hit are shown."""

from holdfast.index.search.preview import Asked, preview


def test_a_matching_line_is_shown_with_the_condition_just_above_it() -> None:
    """The throw was shown, and not when it is thrown."""
    rows = [f"step_{n} = {n};" for n in range(30)]
    rows[14:16] = ["if (size > 0xffff - 8)", '    throw Error(kTooLarge, "segment");']
    asked = Asked({"larg": 1.0, "large": 1.0, "segment": 1.0})
    shown = preview("\n".join(rows), 1, asked, 4, "write")
    assert (15, "if (size > 0xffff - 8)") in shown.lines
    alone = preview("\n".join(rows), 1, asked, 1)
    assert [number for number, _ in alone.lines] == [16]
