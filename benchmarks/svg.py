"""Plots as SVG text: grouped bars and lines, on a linear or logarithmic scale, readable on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
WIDTH, LEFT, RIGHT, TOP = 720, 210, 90, 64
BAR, GAP = 20, 14
PLOT_HEIGHT = 260
COLORS = ("#2f6fde", "#9aa3ad", "#d9822b", "#3f9d5a", "#8a5cc2", "#c23b5a")
FONT = "font-family='system-ui, sans-serif'"


def save(name: str, picture: str, folder: Path = PICTURES) -> Path:
    """Write a picture; return where it is."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(picture, encoding="utf-8")
    return path


def shown(value: float) -> str:
    """Return a figure with as many digits as a reader needs."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2g}"


def bars(
    title: str,
    unit: str,
    rows: Mapping[str, Mapping[str, float]],
    *,
    note: str = "",
    goals: Mapping[str, float] | None = None,
) -> str:
    """Return bars lying side by side: for each row one per name; `goals` puts a mark into a row."""
    names = list(dict.fromkeys(name for values in rows.values() for name in values))
    goals = goals or {}
    most = max([value for values in rows.values() for value in values.values()] + list(goals.values()))
    scale = (WIDTH - LEFT - RIGHT) / (most or 1)
    parts, y = [], TOP + 8
    for label, values in rows.items():
        top = y
        for name, value in values.items():
            color, long = COLORS[names.index(name) % len(COLORS)], max(1.0, value * scale)
            parts.append(f"<rect x='{LEFT}' y='{y}' width='{long:.1f}' height='{BAR - 4}' rx='2' fill='{color}'/>")
            parts.append(_text(LEFT + long + 6, y + 12, f"{shown(value)} {unit}", size=12))
            y += BAR
        parts.append(_text(LEFT - 10, (top + y - 4) / 2 + 4, label, anchor="end"))
        if label in goals:
            x = LEFT + goals[label] * scale
            parts.append(
                f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{top - 4}' y2='{y}' stroke='#c23b5a' stroke-width='2'"
                f" stroke-dasharray='4 3'/>"
            )
        y += GAP
    if goals:
        parts.append(_text(LEFT, y + 6, "dashed: goal", size=12, fill="#c23b5a"))
        y += 22
    return _page(title, note, names, parts, y + 6)


def lines(
    title: str,
    unit: str,
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    along: str,
    note: str = "",
    log: bool = True,
) -> str:
    """Return one line per name over x values that are drawn evenly; the y axis is logarithmic unless `log` is off."""
    xs = sorted({x for points in series.values() for x, _ in points})
    ys = [y for points in series.values() for _, y in points]
    place, ticks = _scale(min(ys), max(ys), log=log)
    left, right = 80, WIDTH - max(150, 30 + 7 * max(map(len, series)))
    step = (right - left) / max(1, len(xs) - 1)
    parts = []
    for tick in ticks:
        y = place(tick)
        parts.append(
            f"<line x1='{left}' x2='{right}' y1='{y:.1f}' y2='{y:.1f}' stroke='#9aa3ad' stroke-opacity='.35'/>"
        )
        parts.append(_text(left - 8, y + 4, f"{shown(tick)} {unit}", anchor="end", size=12))
    bottom = TOP + PLOT_HEIGHT
    parts += [_text(left + step * at, bottom + 20, f"{x:,.0f}", anchor="middle", size=12) for at, x in enumerate(xs)]
    parts.append(_text((left + right) / 2, bottom + 40, along, anchor="middle", size=12))
    ends: list[tuple[float, float, str, str]] = []
    for number, (name, points) in enumerate(series.items()):
        color = COLORS[number % len(COLORS)]
        drawn = [(left + step * xs.index(x), place(y)) for x, y in sorted(points)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
        parts.append(f"<polyline points='{path}' fill='none' stroke='{color}' stroke-width='2.5'/>")
        parts += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' fill='{color}'/>" for x, y in drawn]
        ends.append((drawn[-1][1], drawn[-1][0], name, color))
    last = -math.inf
    for end, x, name, color in sorted(ends):
        last = max(end, last + 15)  # names of lines that end together stand below each other, in the lines' order
        parts.append(_text(x + 10, last + 4, name, size=12, fill=color))
    return _page(title, note, [], parts, bottom + 56)


def _scale(least: float, most: float, *, log: bool) -> tuple[Callable[[float], float], list[float]]:
    """Return where a value stands, and the values that get a line."""
    if not log:
        top = most or 1.0
        return lambda value: TOP + PLOT_HEIGHT * (1 - value / top), [top * part / 4 for part in range(5)]
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    high += high == low
    span = high - low
    return (
        lambda value: TOP + PLOT_HEIGHT * (1 - (math.log10(value) - low) / span),
        [10.0**power for power in range(low, high + 1)],
    )


def _text(x: float, y: float, words: str, *, anchor: str = "start", size: int = 13, fill: str = "") -> str:
    color = f"fill='{fill}'" if fill else "class='ink'"
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size}' {FONT} {color}>{escape(words)}</text>"
    )


def _page(title: str, note: str, names: Sequence[str], parts: Sequence[str], height: float) -> str:
    head = [_text(16, 26, title, size=16)]
    if note:
        head.append(_text(16, 46, note, size=12, fill="#7d8790"))
    x = WIDTH - 16.0
    for number, name in reversed(list(enumerate(names))):
        x -= 8 * len(name) + 26
        head.append(f"<rect x='{x:.0f}' y='14' width='12' height='12' rx='2' fill='{COLORS[number % len(COLORS)]}'/>")
        head.append(_text(x + 17, 24, name, size=12))
    style = "<style>.ink{fill:#24292f}@media(prefers-color-scheme:dark){.ink{fill:#dfe4ea}}</style>"
    box = f"viewBox='0 0 {WIDTH} {height:.0f}' width='{WIDTH}' height='{height:.0f}'"
    begin = f"<svg xmlns='http://www.w3.org/2000/svg' {box} role='img' aria-label='{escape(title)}'>"
    return "\n".join([begin, style, *head, *parts, "</svg>", ""])
