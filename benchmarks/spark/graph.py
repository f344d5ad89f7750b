"""`python -m benchmarks.spark.graph`: the cost of decoding Avro against the number of ids and of bad rows, as a picture of RESULTS.md."""

import re
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PICTURE = ROOT / "benchmarks" / "RESULTS.md", ROOT / "docs" / "spark-costs.svg"
IDS = re.compile(r"\| Avro, (\d+)(?: mixed)? ids?, error column included \| ([\d.]+) \S+ CPU/row \| ([\d.]+) ")
BAD = re.compile(
    r"\| Avro, 20 mixed ids, ([\d.]+)% bad rows, error column included \| ([\d.]+) \S+ CPU/row \| ([\d.]+) "
)
WIDE, HIGH, EDGE = 340, 190, 44
Point = tuple[float, float, float]
"""What is varied, and microseconds of CPU per row: decoded by a plan, and by Spark's own `from_avro` of one schema."""


def points(text: str) -> tuple[list[Point], list[Point]]:
    """Read both series from the results: by number of ids, and by percent of bad rows among 20 ids."""
    ids = [(float(a), float(b), float(c)) for a, b, c in IDS.findall(text)]
    bad = [(float(a), float(b), float(c)) for a, b, c in BAD.findall(text)]
    return ids, [(0.0, *point[1:]) for point in ids if point[0] == 20] + bad


def draw(title: str, points_of: Sequence[Point], left: int) -> str:
    """Draw one series as a panel: two lines over one axis that begins at zero."""
    most_x, most_y = max(point[0] for point in points_of), max(max(point[1:]) for point in points_of) * 1.1

    def place(x: float, y: float) -> tuple[float, float]:
        return left + EDGE + x / most_x * (WIDE - EDGE - 20), HIGH - EDGE - y / most_y * (HIGH - EDGE - 34)

    parts = [f'<text x="{left + EDGE}" y="20" font-weight="bold">{title}</text>']
    for index, colour in ((1, "#1f6feb"), (2, "#999")):
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y in (place(point[0], point[index]) for point in points_of))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x, y = place(points_of[-1][0], points_of[-1][index])
        parts.append(
            f'<text x="{x:.0f}" y="{y - 6:.0f}" text-anchor="end" fill="{colour}">{points_of[-1][index]:.1f} µs</text>'
        )
    left_end, right_end = place(0, 0), place(most_x, 0)
    parts.append(f'<line x1="{left_end[0]}" y1="{left_end[1]}" x2="{right_end[0]}" y2="{right_end[1]}" stroke="#666"/>')
    for point in (points_of[0], *[p for p in points_of[1:] if p[0] >= most_x / 10]):
        x, y = place(point[0], 0)
        parts.append(f'<text x="{x:.0f}" y="{y + 16:.0f}" text-anchor="middle" fill="#666">{point[0]:g}</text>')
    return "\n".join(parts)


def main() -> None:
    """Write the picture."""
    ids, bad = points(RESULTS.read_text(encoding="utf-8"))
    panels = [
        draw("CPU per row by number of ids", ids, 0),
        draw("CPU per row by percent of bad rows, 20 ids", bad, WIDE),
    ]
    legend = '<text x="44" y="182"><tspan fill="#1f6feb">decode with a plan</tspan> · <tspan fill="#777">from_avro of one schema, which takes damaged rows for good</tspan></text>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDE}" height="{HIGH}" font-family="sans-serif" font-size="11">'
    background = f'<rect width="{2 * WIDE}" height="{HIGH}" fill="white"/>'
    PICTURE.write_text("\n".join([head, background, *panels, legend, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
