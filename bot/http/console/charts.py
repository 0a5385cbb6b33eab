"""Small pictures for the console as SVG: stacked bars over days, and a bar of the parts of a prompt. Pure.

Every bar begins at zero and is as long as its figure says; axes have their unit, and a line for each tick.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape
from typing import Final

WIDTH: Final = 640
HEIGHT: Final = 220
LEFT: Final = 92
RIGHT: Final = 26
TOP: Final = 14
FOOT: Final = 34
TICKS: Final = 4
"""At most so many lines above zero."""
LABELS: Final = 6

Shown = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class BarPiece:
    """One piece of a bar; `begin` and `share` are parts of the full bar, 0 to 1."""

    name: str
    tokens: int
    begin: float
    share: float


@dataclass(frozen=True, slots=True)
class Series:
    """Values drawn over days; a day without one is empty."""

    name: str
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, and its figures as a table for people who read rather than look."""

    title: str
    unit: str
    svg: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Day, then a figure for each name; days without anything are left out."""


def segments(tokens: Mapping[str, int], cap: int) -> list[BarPiece]:
    """The pieces of a bar that is full at `cap` tokens, empty ones left out.

    >>> segments({"history": 98}, 6150)[0].share < 0.02
    True
    """
    whole, at, found = max(sum(tokens.values()), cap, 1), 0, []
    for name, count in tokens.items():
        if count > 0:
            found.append(BarPiece(name, count, at / whole, count / whole))
            at += count
    return found


def last_days(end: date, count: int) -> list[str]:
    """The last days as `YYYY-MM-DD`, oldest first."""
    return [(end - timedelta(days=back)).isoformat() for back in range(count - 1, -1, -1)]


def whole_number(value: float) -> str:
    """A count, e.g. `1,204`."""
    return f"{value:,.0f}"


def dollars(value: float) -> str:
    """Money, small sums with their cents' parts, e.g. `$0.0012`."""
    return f"${value:,.2f}" if value >= 1 or not value else f"${value:.4f}"


def seconds(value: float) -> str:
    """A length of time, e.g. `3.2 s`."""
    return f"{value:,.1f} s"


_AXES: Final[Mapping[Shown, Shown]] = {
    whole_number: whole_number,
    dollars: lambda value: f"${value:,.10g}",
    seconds: lambda value: f"{value:,.10g} s",
}
"""The form of figures on an axis, which need no more digits than their step."""


def ticks(top: float, *, whole: bool) -> list[float]:
    """Zero and round figures up to `top` or just above it; whole ones for counts.

    >>> ticks(7, whole=True)
    [0, 2, 4, 6, 8]
    """
    if top <= 0:
        return [0, 1]
    rough = top / TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9))
    step = max(1, math.ceil(step)) if whole else step
    return [round(step * number, 10) for number in range(math.ceil(top / step - 1e-9) + 1)]


def stacked(title: str, unit: str, series: Sequence[Series], days: Sequence[str], shown: Shown) -> Chart:
    """A chart with one bar a day, in which the series stand on one another, as parts of a sum."""
    return _chart(title, unit, series, days, shown, is_stacked=True)


def nested(title: str, unit: str, series: Sequence[Series], days: Sequence[str], shown: Shown) -> Chart:
    """A chart with one bar a day, in which a series stands within the one before: give the largest first."""
    return _chart(title, unit, series, days, shown, is_stacked=False)


def _chart(
    title: str, unit: str, series: Sequence[Series], days: Sequence[str], shown: Shown, *, is_stacked: bool
) -> Chart:
    filled = [day for day in days if any(one.values.get(day) for one in series)]
    rows = tuple((day, *(shown(one.values.get(day, 0)) for one in series)) for day in reversed(filled))
    bars = {day: _bars([one.values.get(day, 0) for one in series], is_stacked=is_stacked) for day in days}
    top = max((begin + length for pieces in bars.values() for begin, length in pieces), default=0)
    marks = ticks(top, whole=shown is whole_number)
    says = {
        row[0]: ", ".join(f"{one.name} {value}" for one, value in zip(series, row[1:], strict=True)) for row in rows
    }
    drawn = [_axis(marks, shown)]
    for number, day in enumerate(days):
        place = (LEFT + number * _step(days), _step(days))
        drawn.append(_day(f"{day}: {says.get(day, '')}", place, bars[day], marks[-1]))
    told = _told(title, unit, filled, rows)
    svg = (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(told)}">'
        f"{''.join(drawn)}{_labels(days)}</svg>"
    )
    return Chart(title, unit, svg, tuple(one.name for one in series), rows)


def _bars(values: Sequence[float], *, is_stacked: bool) -> list[tuple[float, float]]:
    """Begin and length of each piece of a bar."""
    if not is_stacked:
        return [(0.0, value) for value in values]
    return [(sum(values[:number]), value) for number, value in enumerate(values)]


def _y(value: float, top: float) -> float:
    return round(HEIGHT - FOOT - value / top * (HEIGHT - TOP - FOOT), 1)


def _axis(marks: Sequence[float], shown: Shown) -> str:
    lines = []
    for mark in marks:
        y, kind = _y(mark, marks[-1]), "zero" if not mark else "grid"
        lines.append(f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 5}" text-anchor="end">{escape(_AXES[shown](mark))}</text>')
    return "".join(lines)


def _step(days: Sequence[str]) -> float:
    """The width of a day."""
    return (WIDTH - LEFT - RIGHT) / max(len(days), 1)


def _day(says: str, place: tuple[float, float], pieces: Sequence[tuple[float, float]], top: float) -> str:
    """One bar; `place` is where its day begins, and how wide that is."""
    x, width = round(place[0] + place[1] * 0.12, 1), round(place[1] * 0.76, 1)
    rects = "".join(
        f'<rect class="series{number}" x="{x}" y="{_y(begin + length, top)}" width="{width}" '
        f'height="{round(_y(begin, top) - _y(begin + length, top), 1)}"/>'
        for number, (begin, length) in enumerate(pieces)
        if length
    )
    return f"<g><title>{escape(says)}</title>{rects}</g>" if rects else ""


def _labels(days: Sequence[str]) -> str:
    step, every = _step(days), max(1, math.ceil(len(days) / LABELS))
    shown = range(len(days) - 1, -1, -every)
    return "".join(
        f'<text x="{round(LEFT + (number + 0.5) * step, 1)}" y="{HEIGHT - 10}" text-anchor="middle">'
        f"{escape(_short(days[number]))}</text>"
        for number in shown
    )


def _short(day: str) -> str:
    """A day as an axis has room for it: `25 Nov`."""
    read = date.fromisoformat(day)
    return f"{read.day} {read:%b}"


def _told(title: str, unit: str, filled: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return f"{title}, {unit}: nothing in these days"
    return f"{title}, {unit}: {len(filled)} of the days have figures, the last ({rows[0][0]}) {', '.join(rows[0][1:])}"
