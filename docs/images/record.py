"""Records a terminal session and draws it as an animated SVG: `python docs/images/record.py`.

The commands are run for real in a terminal of their own, on a small tree made for it; only the
pauses between them are made up. The picture needs no player and no script, so it works wherever an
image does.
"""

from __future__ import annotations

import html
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

COLUMNS, ROWS = 96, 26
FONT_PX, LINE_PX, CHARACTER_PX, MARGIN_PX = 13, 18, 7.83, 16
TYPING_S, PAUSE_S, LINE_S, LOOP_PAUSE_S = 0.035, 1.3, 0.03, 4.0
OUTPUT_LINES_MAX = 14

COMMANDS = (
    "holdfast index create",
    'holdfast search "retry a payment that failed" --limit 2',
    "holdfast read shop/payments.py --session demo",
    "holdfast read shop/payments.py --session demo",
    "holdfast context --session demo",
    "holdfast calls charge",
    "holdfast locate 'if attempt > limit: raise Declined(card)'",
    """holdfast memory set note:plan '{"title": "Retry twice, then ask"}'""",
    "holdfast memory set note:plan '\"mine\"' --if-seq 0",
)

FILES = {
    "shop/payments.py": '''"""Taking money, and what to do when it does not come."""

from shop.cards import Card, Declined


def charge(card: Card, cents: int, attempts: int = 2) -> str:
    """Take the money; a payment that failed is tried again."""
    for attempt in range(attempts):
        receipt = card.pay(cents)
        if receipt is not None:
            return receipt
        if attempt + 1 >= attempts:
            raise Declined(card)
    raise Declined(card)


def refund(card: Card, receipt: str) -> None:
    """Give the money of one receipt back."""
    card.undo(receipt)
''',
    "shop/cards.py": '''"""Cards, and the errors they raise."""


class Declined(Exception):
    """Raised when no money came."""


class Card:
    def pay(self, cents: int) -> str | None:
        return f"receipt-{cents}" if cents < 10_000 else None

    def undo(self, receipt: str) -> None: ...
''',
    "shop/checkout.py": """from shop.payments import charge


def checkout(card, basket):
    return charge(card, sum(item.cents for item in basket))
""",
}

STYLES = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y"}
_ANSI = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


@dataclass(frozen=True)
class Shown:
    """A line of the screen and when it appears."""

    at_s: float
    spans: tuple[tuple[str, str], ...]


def run(command: str, cwd: Path, environment: dict[str, str]) -> str:
    """What a command prints on a terminal of our size."""
    ours, theirs = pty.openpty()
    environment = {**environment, "COLUMNS": str(COLUMNS), "LINES": str(ROWS), "TERM": "xterm"}
    process = subprocess.Popen(  # noqa: S602
        command, shell=True, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    pieces = []
    while True:
        ready, _, _ = select.select([ours], [], [], 0.2)
        if ready:
            try:
                data = os.read(ours, 65536)
            except OSError:
                break
            if not data:
                break
            pieces.append(data)
        elif process.poll() is not None:
            break
    os.close(ours)
    process.wait()
    return b"".join(pieces).decode("utf-8", "replace").replace("\r\n", "\n")


def screen_lines(text: str) -> list[tuple[tuple[str, str], ...]]:
    """The lines as they stay on the screen: styled runs, progress lines overwritten."""
    out = []
    for line in text.rstrip("\n").split("\n"):
        kept = line.rsplit("\r", 1)[-1]
        spans: list[tuple[str, str]] = []
        style, at = "", 0
        for found in _ANSI.finditer(kept):
            spans.append((style, kept[at : found.start()]))
            at = found.end()
            if found[2] == "m":
                style = STYLES.get(found[1], "")
        spans.append((style, kept[at:]))
        out.append(_cut([(style, piece) for style, piece in spans if piece]))
    return out


def _cut(spans: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    room, out = COLUMNS, []
    for style, piece in spans:
        if room <= 0:
            break
        shown = piece if len(piece) <= room else piece[: room - 1] + "…"
        out.append((style, shown))
        room -= len(shown)
    return tuple(out)


def record(commands: tuple[str, ...] = COMMANDS) -> list[Shown]:
    """Run the commands; every line with the moment it appears."""
    with tempfile.TemporaryDirectory(prefix="holdfast-record-") as folder:
        root = Path(folder)
        for name, text in FILES.items():
            (root / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "tree" / name).write_text(text)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        environment = {**os.environ, "HOLDFAST_HOME": str(root / "home"), "PATH": path}
        now, lines = 0.5, []
        for command in commands:
            printed = run(command, root / "tree", environment)
            printed = printed.replace(str(root / "tree"), "~/tree")
            lines.append(Shown(now, (("p", "$ "), ("b", command))))
            now += TYPING_S * len(command) + 0.3
            found = screen_lines(printed)
            if len(found) > OUTPUT_LINES_MAX:
                more = len(found) - OUTPUT_LINES_MAX + 1
                found = [*found[: OUTPUT_LINES_MAX - 1], (("d", f"… {more} more lines"),)]
            for spans in [*found, ()]:
                lines.append(Shown(now, spans))
                now += LINE_S
            now += PAUSE_S
    return lines


def draw(lines: list[Shown]) -> str:
    """The session as an SVG whose lines appear in time and scroll."""
    total = lines[-1].at_s + LOOP_PAUSE_S
    width = round(COLUMNS * CHARACTER_PX + 2 * MARGIN_PX)
    height = ROWS * LINE_PX + 2 * MARGIN_PX
    frames, texts, rules = [], [], []
    for number, line in enumerate(lines):
        share = 100 * line.at_s / total
        if number >= ROWS:
            frames.append(
                f"{share:.3f}% {{transform:translateY({(ROWS - 1 - number) * LINE_PX}px)}}"
            )
        rules.append(
            f"@keyframes l{number}{{0%,{max(0, share - 0.001):.3f}%{{opacity:0}}"
            f"{share:.3f}%,100%{{opacity:1}}}}#l{number}{{animation-name:l{number}}}"
        )
        inside = "".join(
            f'<tspan class="{style}">{html.escape(piece)}</tspan>' for style, piece in line.spans
        )
        y = MARGIN_PX + FONT_PX + number * LINE_PX
        texts.append(f'<text id="l{number}" x="{MARGIN_PX}" y="{y}">{inside}</text>')
    style = f"""
text{{font:{FONT_PX}px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d7dae0;
white-space:pre;opacity:0;animation:l0 {total:.2f}s step-end infinite}}
.b{{fill:#fff;font-weight:600}}.d{{fill:#7d8590}}.r{{fill:#ff7b72}}.g{{fill:#7ee787}}
.y{{fill:#e3b341}}.p{{fill:#56b6c2}}
#all{{animation:scroll {total:.2f}s step-end infinite}}
@keyframes scroll{{0%{{transform:translateY(0)}}{"".join(frames)}}}
{"".join(rules)}
@media (prefers-reduced-motion:reduce){{text,#all{{animation:none;opacity:1}}}}"""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="a terminal session">'
        f"<style>{style}</style>"
        f'<rect width="{width}" height="{height}" rx="8" fill="#16181d"/>'
        f'<clipPath id="c"><rect x="0" y="{MARGIN_PX - 4}" width="{width}" '
        f'height="{ROWS * LINE_PX + 8}"/></clipPath>'
        f'<g clip-path="url(#c)"><g id="all">{"".join(texts)}</g></g></svg>\n'
    )


def main(target: Path | None = None) -> None:
    target = target or Path(__file__).with_name("terminal.svg")
    target.write_text(draw(record()), encoding="utf-8")
    print(f"wrote {target}, {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
