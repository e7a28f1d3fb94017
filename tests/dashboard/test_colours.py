"""What is written can be read: every pair of colours that meets has contrast enough."""

import re
from importlib import resources

import pytest

CSS = (resources.files("holdfast.dashboard") / "assets" / "style.css").read_text("utf-8")
COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", CSS)
}
PAIRS = [
    *((ink, on) for ink in ("ink", "ink-2", "ink-3") for on in ("ground", "surface", "raised")),
    *(("ink-3", on) for on in ("sunken", "plus", "minus", "accent-soft")),
    *((state, f"{state}-soft") for state in ("ok", "busy", "warn", "bad", "accent")),
    *(("accent", on) for on in ("ground", "surface")),
    ("accent-ink", "accent"),
]
READABLE = 4.5
"""The contrast that WCAG 2 asks of text (AA)."""


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.shows("DASH-CONTRAST")
@pytest.mark.parametrize(("ink", "on"), PAIRS)
def test_text_can_be_read_on_its_ground(ink: str, on: str) -> None:
    for one, other in zip(COLOURS[ink], COLOURS[on], strict=True):
        assert contrast(one, other) >= READABLE, f"{one} on {other}"
