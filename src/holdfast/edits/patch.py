"""The old texts of a patch, and whether a file has them by the rules of the agents' patch tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

PATCH_BYTES_MAX = 1 << 20

_LOOK_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f\u3000", " "),
    }
)


def hunks(patch: str) -> Iterator[tuple[str, str]]:
    """Path and old text of each hunk: the lines with a blank or a minus, in order.

    Understands the `apply_patch` envelope and unified diffs. The line named after `@@` in an
    envelope must be there too, so it counts as an old text. Anything else gives nothing.
    """
    if len(patch) > PATCH_BYTES_MAX:
        return
    path: str | None = None
    old: list[str] = []
    unified = False
    for row in patch.removesuffix("\n").split("\n"):
        # In an envelope, `--- ` is a removed line that begins with `-- `.
        is_header = row.startswith("--- ") and (unified or path is None)
        if not (is_header or row.startswith(("*** ", "@@"))):
            if path is not None and row[:1] in (" ", "-", ""):
                old.append(row[1:])
            continue
        if row == "*** End of File":
            continue
        if path is not None and any(line.strip() for line in old):
            yield path, "\n".join(old)
        old = []
        if row.startswith("*** Update File: "):
            path, unified = row.removeprefix("*** Update File: ").strip() or None, False
        elif is_header:
            path, unified = _named(row[4:]), True
        elif row.startswith("@@"):
            context = row[2:].strip()
            if path is not None and not unified and context:
                yield path, context
        elif not row.startswith("*** Move to: "):
            path = None
    if path is not None and any(line.strip() for line in old):
        yield path, "\n".join(old)


def _named(rest: str) -> str | None:
    name = rest.split("\t", 1)[0].strip()
    return None if name in ("", "/dev/null") else name.removeprefix("a/")


def has_lines(text: str, old: str) -> bool:
    """Whether lines like these follow each other in the text: blanks around a line do not matter.

    The most tolerant comparison that a patch tool makes, so what it does not find does not apply.
    """
    old_lines, lines = _plain(old.split("\n")), _plain(text.split("\n"))
    while old_lines and not old_lines[-1]:
        old_lines.pop()
    if not old_lines:
        return True
    return "\n" + "\n".join(old_lines) + "\n" in "\n" + "\n".join(lines) + "\n"


def _plain(lines: Sequence[str]) -> list[str]:
    return [line.strip().translate(_LOOK_ALIKE) for line in lines]
