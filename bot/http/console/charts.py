"""Small pictures for the console as SVG: bars over days, and a stacked bar of tiers. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape

WIDTH, HEIGHT, HEAD, FOOT = 640, 180, 24, 26


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of a stacked bar; `share` is of the whole bar, 0 to 1."""

    name: str
    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class Series:
    """What is drawn over days; a day without a value is empty."""

    name: str
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, and its figures as a table for whoever reads rather than looks."""

    title: str
    svg: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Day, then a figure for each name; days without anything are left out."""


def segments(tokens: Mapping[str, int]) -> list[Segment]:
    """Return the pieces of a bar, empty tiers left out."""
    whole = max(sum(tokens.values()), 1)
    return [Segment(name, count, count / whole) for name, count in tokens.items() if count > 0]


def last_days(end: date, count: int) -> list[str]:
    """Return the last days as `YYYY-MM-DD`, oldest first."""
    return [(end - timedelta(days=back)).isoformat() for back in range(count - 1, -1, -1)]


def whole_number(value: float) -> str:
    """Return a count, e.g. `1,204`."""
    return f"{value:,.0f}"


def dollars(value: float) -> str:
    """Return money, small sums with their cents' parts, e.g. `$0.0012`."""
    return f"${value:,.2f}" if value >= 1 or not value else f"${value:.4f}"


def seconds(value: float) -> str:
    """Return a length of time, e.g. `3.2 s`."""
    return f"{value:,.1f} s"


def chart(title: str, series: Sequence[Series], days: Sequence[str], shown: Callable[[float], str]) -> Chart:
    """Return a bar chart with one bar a day; of several series the first stands behind, so give the largest first."""
    filled = [day for day in days if any(one.values.get(day) for one in series)]
    rows = tuple((day, *(shown(one.values.get(day, 0)) for one in series)) for day in reversed(filled))
    return Chart(title, _svg(title, series, days, shown), tuple(one.name for one in series), rows)


def _svg(title: str, series: Sequence[Series], days: Sequence[str], shown: Callable[[float], str]) -> str:
    top = max((one.values.get(day, 0) for one in series for day in days), default=0)
    room, step = HEIGHT - HEAD - FOOT, WIDTH / max(len(days), 1)
    drawn = []
    for number, day in enumerate(days):
        told = ", ".join(f"{one.name} {shown(one.values.get(day, 0))}" for one in series)
        for place, one in enumerate(series):
            height = round(one.values.get(day, 0) / (top or 1) * room, 1)
            at = f'x="{round(number * step + 1, 1)}" y="{round(HEIGHT - FOOT - height, 1)}"'
            size = f'width="{round(step - 2, 1)}" height="{height}"'
            said = f"<title>{escape(f'{day}: {told}')}</title>"
            drawn.append(f'<rect class="series{place}" {at} {size} rx="2">{said}</rect>')
    marks = [
        f'<text x="{round(days.index(day) * step + 1, 1)}" y="{HEIGHT - 6}">{escape(day[5:])}</text>'
        for day in days[:: max(1, len(days) // 5)]
    ]
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f'<text class="top" x="1" y="16">{escape(shown(top))}</text>{"".join(drawn)}{"".join(marks)}</svg>'
    )
