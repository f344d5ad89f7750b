"""Charts as inline SVG in the colours of the page; every bar has a title, shown under the pointer."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 1000
"""Width of a chart in SVG units; the page scales it."""


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One bar: its label, its value, the value as text, a CSS class of the page, and a note for its title."""

    label: str
    value: float
    shown: str
    kind: str = "a"
    note: str = ""


@dataclass(frozen=True, slots=True)
class DelayCell:
    """One cell of a heat map: its row, its column, its value (None: no value), and a note for its title."""

    row: str
    column: int
    value: float | None
    note: str = ""


def _draw_svg(height: float, body: Sequence[str], name: str) -> str:
    inside = "".join(body)
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(name)}">{inside}</svg>'


def _draw_text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def _draw_title(bar: ChartBar) -> str:
    return f"<title>{escape(bar.label)}: {escape(bar.shown)}{escape(' · ' + bar.note) if bar.note else ''}</title>"


def draw_horizontal_bars(bars: Sequence[ChartBar], name: str, *, left: float = 190) -> str:
    """Return horizontal bars from a common zero line; negative values extend to the left."""
    step, room = 34, WIDTH - left - 150
    low, high = min(0.0, *(bar.value for bar in bars)), max(1e-9, *(bar.value for bar in bars))
    zero = left + room * -low / (high - low)
    body = []
    for place, bar in enumerate(bars):
        y = place * step
        wide = room * abs(bar.value) / (high - low)
        x = zero if bar.value >= 0 else zero - wide
        end = x + wide + 10 if bar.value >= 0 else zero + 10
        body.append(
            f'<g>{_draw_title(bar)}<rect x="{x:.1f}" y="{y + 5}" width="{max(wide, 2):.1f}" height="{step - 10}" rx="4" class="{bar.kind}"/>'
            f"{_draw_text(left - 14, y + 23, bar.label, 'label', 'end')}{_draw_text(end, y + 23, bar.shown, 'value')}</g>"
        )
    return _draw_svg(len(bars) * step, body, name)


def draw_vertical_bars(bars: Sequence[ChartBar], name: str, unit: str, across: str) -> str:
    """Return vertical bars over a common zero line, with grid lines; negative values extend down. `unit` names the
    values, `across` the labels of the x axis.
    """
    tall, foot, left = 250.0, 58.0, 60.0
    low, high = min(0.0, *(bar.value for bar in bars)), max(1e-9, *(bar.value for bar in bars))
    step = _round_step((high - low) / 4)
    scale = (tall - 14) / (high - low)
    base = 14 + high * scale
    wide = (WIDTH - left) / len(bars)
    body = []
    mark = step * (low // step)
    while mark <= high:
        if mark >= low:
            y = base - mark * scale
            body.append(f'<line x1="{left}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
            body.append(_draw_text(left - 10, y + 5, f"{mark:g}", "label", "end"))
        mark += step
    for place, bar in enumerate(bars):
        x, size = left + place * wide, abs(bar.value) * scale
        y = base - size if bar.value >= 0 else base
        body.append(
            f'<g>{_draw_title(bar)}<rect x="{x + wide * 0.12:.1f}" y="{y:.1f}" width="{wide * 0.76:.1f}" height="{max(size, 1.5):.1f}" '
            f'rx="4" class="{bar.kind}"/>{_draw_text(x + wide / 2, tall + 22, bar.label, "label", "middle")}</g>'
        )
    body.append(_draw_text(0, 11, unit, "label"))
    body.append(_draw_text((left + WIDTH) / 2, tall + foot - 8, across, "label", "middle"))
    return _draw_svg(tall + foot, body, name)


def draw_shares(bars: Sequence[ChartBar], name: str) -> str:
    """Return one stacked bar; each part is as wide as its share."""
    total = sum(bar.value for bar in bars) or 1
    body, x = [], 0.0
    for bar in bars:
        wide = WIDTH * bar.value / total
        label = (
            _draw_text(x + 14, 34, bar.label, "inside") + _draw_text(x + 14, 56, bar.shown, "inside strong")
            if wide > 110
            else ""
        )
        body.append(
            f'<g>{_draw_title(bar)}<rect x="{x:.1f}" y="0" width="{max(wide - 4, 2):.1f}" height="74" rx="8" class="{bar.kind}"/>{label}</g>'
        )
        x += wide
    return _draw_svg(74, body, name)


def draw_heat_map(cells: Sequence[DelayCell], name: str, unit: str) -> str:
    """Return a cell for each value, stronger the higher it is, with its rounded value; rows and columns in the order of the cells."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = sorted({cell.column for cell in cells})
    left, tall = 54.0, 30.0
    wide, high = (WIDTH - left) / len(columns), max(1e-9, *(cell.value or 0.0 for cell in cells))
    body = [
        _draw_text(left + (at + 0.5) * wide, 16, f"{column:02d}", "label", "middle")
        for at, column in enumerate(columns)
    ]
    body += [_draw_text(left - 12, 24 + (at + 0.66) * tall, row, "label", "end") for at, row in enumerate(rows)]
    for cell in cells:
        if cell.value is None:
            continue
        x, y = left + columns.index(cell.column) * wide, 24 + rows.index(cell.row) * tall
        share = min(1.0, max(0.0, cell.value) / high) ** 0.7
        note = f"<title>{escape(cell.row)}, {cell.column:02d}: {cell.value:.1f} {escape(unit)} · {escape(cell.note)}</title>"
        ink = "cell strong" if share > 0.55 else "cell"
        body.append(
            f'<g>{note}<rect x="{x + 1:.1f}" y="{y + 1:.1f}" width="{wide - 2:.1f}" height="{tall - 2:.1f}" rx="4" class="b" '
            f'style="fill-opacity:{0.06 + 0.94 * share:.2f}"/>'
            f"{_draw_text(x + wide / 2, y + tall * 0.66, f'{round(cell.value)}', ink, 'middle')}</g>"
        )
    return _draw_svg(24 + tall * len(rows), body, name)


def _round_step(rough: float) -> float:
    """The next of 1, 2, 5, 10, 20, … at or above."""
    power = 1.0
    while power * 10 <= rough:
        power *= 10
    while power > rough:
        power /= 10
    return next((power * part for part in (1, 2, 5) if power * part >= rough), power * 10)
