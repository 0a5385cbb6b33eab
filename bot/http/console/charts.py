"""Small pictures for the console as SVG: bars over days, and a stacked bar of tiers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape

WIDTH, HEIGHT, FOOT = 640, 140, 18


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of a stacked bar; `share` is of the whole bar, 0 to 1."""

    name: str
    tokens: int
    share: float


def segments(tokens: Mapping[str, int]) -> list[Segment]:
    """Return the pieces of a bar, empty tiers left out."""
    whole = max(sum(tokens.values()), 1)
    return [Segment(name, count, count / whole) for name, count in tokens.items() if count > 0]


def last_days(end: date, count: int) -> list[str]:
    """Return the last days as `YYYY-MM-DD`, oldest first."""
    return [(end - timedelta(days=back)).isoformat() for back in range(count - 1, -1, -1)]


def bars(values: Mapping[str, float], days: Sequence[str], label: str) -> str:
    """Return a bar chart with one bar a day; days without a value are empty. The title of a bar says its figure."""
    top = max([values.get(day, 0) for day in days] + [1])
    step = WIDTH / max(len(days), 1)
    drawn = []
    for number, day in enumerate(days):
        value = values.get(day, 0)
        height = round(value / top * (HEIGHT - FOOT - 14), 1)
        x, y = round(number * step + 1, 1), round(HEIGHT - FOOT - height, 1)
        title = f"<title>{escape(day)}: {value:,.0f}</title>"
        drawn.append(f'<rect x="{x}" y="{y}" width="{round(step - 2, 1)}" height="{height}" rx="2">{title}</rect>')
    marks = [
        f'<text x="{round(days.index(day) * step + 1, 1)}" y="{HEIGHT - 4}">{escape(day[5:])}</text>'
        for day in days[:: max(1, len(days) // 6)]
    ]
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
        f'<text class="top" x="1" y="10">{top:,.0f}</text>{"".join(drawn)}{"".join(marks)}</svg>'
    )
