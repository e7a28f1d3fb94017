"""Records a session of a real agent and draws it: `python -m tests.agents.recording`.

Claude Code works with its own tools on a small tree; the model is a script. What is drawn as the
result of a call is what the next request showed the model, word for word, cut to the screen.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from tests.agents.model import Script, Turn, call, say, scripted_model
from tests.agents.programs import HOLDFAST, Place, claude
from tests.agents.shown import Item, Result, Said, Used, shown

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = ROOT / "docs" / "images" / "agent.svg"
PROMPT = "A declined card is tried three times. The bank wants two."
RESULT_LINES_MAX = 9
MARK = "[holdfast: "
"""What our words in an agent's own results begin with."""

PAYMENTS = '''"""Taking money, and what to do when it does not come."""


class Declined(Exception):
    """The bank refused the card."""


def charge(card, cents, tries=3):
    """Charge a card; a declined card is tried again."""
    for attempt in range(tries):
        if card.take(cents):
            return attempt + 1
    raise Declined(card)
''' + "".join(f"\n\ndef fee_{n}(cents):\n    return cents * {n} // 100\n" for n in range(1, 41))


def script_of(file: Path) -> tuple[Turn, ...]:
    """What the model does: read, look again, meet a change, fail an edit, then do it right."""
    name = str(file)

    def formatter() -> None:
        file.write_text(file.read_text().replace("cents * 7 //", "cents * 8 //"))

    return (
        call("Read", file_path=name),
        call("Bash", command="cat payments.py"),
        Turn((("Read", {"file_path": name}),), before=formatter),
        call("Edit", file_path=name, old_string="def charge(card, cents, retries=3):",
             new_string="def charge(card, cents, retries=2):"),
        call("Edit", file_path=name, old_string="def charge(card, cents, tries=3):",
             new_string="def charge(card, cents, tries=2):"),
        say("Done: a declined card is tried twice."),
    )  # fmt: skip


def play(root: Path) -> list[Item]:
    """Run the session; what the last request showed the model, and the model's last words."""
    (root / "work").mkdir()
    file = root / "work" / "payments.py"
    file.write_text(PAYMENTS)
    with scripted_model(root / "work") as model:
        script: Script = model.script("recording")
        place = Place(root, model, script).make()
        place.holdfast_command("install", "--client", "claude", "--command", HOLDFAST)
        turns = script_of(file)
        script.play(*turns)
        with place.warm_host():
            claude(place, PROMPT)
        return [*shown(script.played()[-1]), Said("assistant", turns[-1].text)]


def transcript(items: list[Item], work: str) -> list[tuple[str, str]]:
    """The session as lines with a style, the way a terminal would show it."""
    lines = [("p", f'$ claude "{PROMPT}"'), ("", "")]
    for item in items:
        if isinstance(item, Used):
            lines.append(("b", f"● {item.name}({_arguments(item.arguments, work)})"))
        elif isinstance(item, Result):
            lines.extend(_result(item.text.replace(f"{work}/", "")))
            lines.append(("", ""))
        elif item.role == "assistant" and item.text:
            lines.append(("", item.text))
        elif MARK in item.text and not item.text.startswith("Available"):
            lines[-1:] = [*_result(item.text[item.text.index(MARK) :]), ("", "")]
    return lines


def _arguments(arguments: dict[str, object], work: str) -> str:
    if "command" in arguments:
        return str(arguments["command"])
    name = str(arguments.get("file_path", "")).replace(f"{work}/", "")
    return f'{name}, "{arguments["old_string"]}"' if "old_string" in arguments else name


def _result(text: str) -> list[tuple[str, str]]:
    rows = text.strip("\n").split("\n")
    ours = MARK in text
    if len(rows) > RESULT_LINES_MAX and not ours:
        rows = [*rows[:3], f"… {len(rows) - 3} more lines, {len(text):,} bytes"]
    elif len(rows) > RESULT_LINES_MAX:
        rows = [*rows[: RESULT_LINES_MAX - 1], f"… {len(rows) - RESULT_LINES_MAX + 1} more lines"]
    style = "g" if ours else "d"
    return [(style, f"  {'⎿' if number == 0 else ' '} {row}") for number, row in enumerate(rows)]


def recorder() -> ModuleType:
    """The script that draws terminal sessions."""
    path = ROOT / "docs" / "images" / "record.py"
    spec = importlib.util.spec_from_file_location("record", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["record"] = module
    spec.loader.exec_module(module)
    return module


def draw(lines: list[tuple[str, str]]) -> str:
    record = recorder()
    now, frames = 0.5, []
    for style, text in lines:
        frames.append(record.Shown(now, record._cut([(style, text)])))
        now += 1.2 if not text else 0.25
    return str(record.draw(frames))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="holdfast-agent-") as place:
        lines = transcript(play(Path(place)), str(Path(place).resolve() / "work"))
    TARGET.write_text(draw(lines), encoding="utf-8")
    print("\n".join(text for _, text in lines))
    print(f"wrote {TARGET.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
