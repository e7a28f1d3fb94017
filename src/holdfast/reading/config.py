"""A user's settings for reading, from `reading.toml`.

sensitive = ["*.tfstate", "*/secrets/*"]     never stored, in addition to the built-in list
not_sensitive = [".env.example"]             exceptions to both lists
range_diffs = false                          answer a changed range with a diff of it
union = true                                 answer a range from several held ranges that cover it
dialect = "counted"                          "uncounted" for pi since 0.75.5
diff_budget_ms = 200                         how long a diff may take
focus = true                                 fold whole first reads of long files

[focus.claude-code]                          the same for one agent, with its own lengths
main_lines = 800
subagent_lines = 300
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from holdfast.reading.answer import Policy
from holdfast.reading.baseline import Dialect
from holdfast.reading.errors import BadSettings
from holdfast.reading.focus import Presets
from holdfast.reading.reader import Settings
from holdfast.reading.sensitive import Sensitive

KNOWN = (
    *("sensitive", "not_sensitive", "range_diffs", "union", "dialect", "diff_budget_ms"),
    "focus",
)
EVERY = "*"
"""Used instead of an agent's name: all agents."""


def load(path: Path) -> Settings:
    """The settings in this file, or the defaults if the file does not exist."""
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(str(path), str(error)) from error
    import tomllib

    try:
        return parse(tomllib.loads(text), str(path))
    except (ValueError, RecursionError) as error:  # also a number with thousands of digits
        raise BadSettings(str(path), str(error)) from error


def parse(raw: Mapping[str, object], source: str = "settings") -> Settings:
    """Settings from a table. Raises BadSettings for an unknown name or a wrong type."""
    for name in raw:
        if name not in KNOWN:
            raise BadSettings(source, f"unknown setting {name!r}")
    budget = raw.get("diff_budget_ms", 200)
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0 <= budget < 1e6:
        raise BadSettings(source, "diff_budget_ms must be a number of milliseconds")
    dialect = raw.get("dialect", Dialect.COUNTED.value)
    if dialect not in [each.value for each in Dialect]:
        raise BadSettings(source, 'dialect must be "counted" or "uncounted"')
    policy = Policy(
        dialect=Dialect(dialect),
        union=_flag(raw, "union", True, source),
        range_diffs=_flag(raw, "range_diffs", False, source),
    )
    sensitive = Sensitive(
        _patterns(raw, "sensitive", source), _patterns(raw, "not_sensitive", source)
    )
    return Settings(policy, sensitive, budget / 1000, focus=_focus(raw.get("focus"), source))


def _focus(value: object, source: str) -> dict[str, Presets]:
    """The presets by agent: from how many lines on first reads are folded."""
    if value is None or value is False:
        return {}
    if value is True:
        return {EVERY: Presets()}
    if not isinstance(value, Mapping):
        raise BadSettings(source, "focus must be true, false or a table of agents")
    presets = {}
    for agent, setting in value.items():
        if setting is False:
            continue
        lines = {} if setting is True else setting
        if not isinstance(lines, Mapping):
            raise BadSettings(source, f"focus.{agent} must be true, false or a table")
        for name, count in lines.items():
            is_setting = name in ("main_lines", "subagent_lines")
            if not is_setting or isinstance(count, bool) or not isinstance(count, int) or count < 1:
                what = (
                    "a number of lines, at least 1"
                    if is_setting
                    else "main_lines or subagent_lines"
                )
                raise BadSettings(source, f"focus.{agent}.{name} must be {what}")
        presets[str(agent)] = Presets(**lines)
    return presets


def _flag(raw: Mapping[str, object], name: str, default: bool, source: str) -> bool:
    value = raw.get(name, default)
    if not isinstance(value, bool):
        raise BadSettings(source, f"{name} must be true or false")
    return value


def _patterns(raw: Mapping[str, object], name: str, source: str) -> tuple[str, ...]:
    value = raw.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadSettings(source, f"{name} must be a list of patterns")
    return tuple(value)
