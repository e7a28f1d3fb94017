"""Charts of recorded results, as SVG that is the same for the same records."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#a463f2", "#9c6b4e")
MARKS = "os^Dvx*"

Points = Sequence[tuple[float, float]]


def drawn(title: str, height: float, draw: Callable[[Axes], None]) -> str:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update(
        {
            "svg.hashsalt": "holdfast",
            "svg.fonttype": "none",
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.facecolor": "white",
        }
    )
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=10)
    draw(axes)
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def bars(
    title: str, unit: str, groups: Sequence[str], series: Mapping[str, Sequence[float]]
) -> str:
    """Horizontal bars: a group for each name, a bar in it for each series."""

    def draw(axes: Axes) -> None:
        thick = 0.8 / len(series)
        for number, (name, values) in enumerate(series.items()):
            places = [at + number * thick for at in range(len(groups))]
            axes.barh(places, values, thick * 0.9, label=name, color=COLOURS[number])
            for place, value in zip(places, values, strict=True):
                axes.text(value, place, f" {value:.3g}", va="center", fontsize=8)
        axes.set_yticks([at + 0.4 - thick / 2 for at in range(len(groups))], groups)
        axes.invert_yaxis()
        axes.set_xlabel(unit)
        axes.legend(frameon=False, fontsize=8, loc="lower right")

    return drawn(title, 1.2 + 0.22 * len(groups) * max(2, len(series)), draw)


def lines(title: str, across: str, up: str, series: Mapping[str, Points]) -> str:
    """Costs against sizes, both as logarithms."""

    def draw(axes: Axes) -> None:
        for number, (name, points) in enumerate(series.items()):
            shown = [(x, max(y, 1e-3)) for x, y in points]
            colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
            axes.plot(
                *zip(*shown, strict=True), label=name, lw=1.6, ms=4, color=colour, marker=mark
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))

    return drawn(title, 3.6, draw)
