"""A layered layout of a graph: nodes in columns, so that every edge leads to the right, with few crossings."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

BOX_WIDTH, BOX_HEIGHT = 210, 46
GAP_ACROSS, GAP_DOWN, MARGIN = 84, 18, 12
WAY_HEIGHT = 8
"""Pixels for an edge that passes a column."""
SWEEPS = 8
"""Passes in which each column is ordered by its peers."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node: its key, two lines of text, what it is, and the address of its page; empty: none that can be seen."""

    key: str
    label: str
    detail: str = ""
    kind: str = "subject"
    link: str = ""


@dataclass(frozen=True, slots=True)
class ReferenceGraph:
    """Nodes by key, and edges (from, to): what needs what. `is_cut`: there are more nodes than the most that are drawn."""

    nodes: Mapping[str, GraphNode]
    edges: frozenset[tuple[str, str]]
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """A node with the place of its upper left corner, in pixels."""

    node: GraphNode
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """Boxes and the paths of edges, as SVG has them, in a picture of this size."""

    boxes: Sequence[PlacedBox]
    paths: Sequence[str]
    width: int
    height: int


def draw_graph(graph: ReferenceGraph) -> GraphDrawing:
    """Place the nodes of a graph. Edges that would close a cycle lead to the left.

    An edge over several columns has a place of its own in those between, so that it runs around their boxes.
    """
    column = _assign_columns(graph)
    ways = {edge: _route_edge(edge, column) for edge in sorted(graph.edges)}
    order = _order(column, ways)
    heights = [[_height(graph, key) for key in one] for one in order]
    tallest = max((sum(one) + GAP_DOWN * (len(one) - 1) for one in heights), default=0)
    boxes: dict[str, PlacedBox] = {}
    middles: dict[str, tuple[int, int]] = {}
    for number, keys in enumerate(order):
        y = MARGIN + (tallest - sum(heights[number]) - GAP_DOWN * (len(keys) - 1)) // 2
        x = MARGIN + number * (BOX_WIDTH + GAP_ACROSS)
        for key, tall in zip(keys, heights[number], strict=True):
            middles[key] = x, y + tall // 2
            if key in graph.nodes:
                boxes[key] = PlacedBox(graph.nodes[key], x, y)
            y += tall + GAP_DOWN
    width = 2 * MARGIN + max(1, len(order)) * (BOX_WIDTH + GAP_ACROSS) - GAP_ACROSS
    paths = [_draw_route([middles[key] for key in way]) for way in ways.values()]
    return GraphDrawing(list(boxes.values()), paths, width, 2 * MARGIN + tallest)


def _height(graph: ReferenceGraph, key: str) -> int:
    return BOX_HEIGHT if key in graph.nodes else WAY_HEIGHT


def _route_edge(edge: tuple[str, str], column: Mapping[str, int]) -> list[str]:
    """Return the keys along an edge: its ends, and a place in each column between."""
    start, end = edge
    return [start, *(f"{start}\n{end}\n{at}" for at in range(column[start] + 1, column[end])), end]


def _assign_columns(graph: ReferenceGraph) -> dict[str, int]:
    """Return the column of each node: one more than that of everything that needs it."""
    needed_by: dict[str, list[str]] = defaultdict(list)
    needs: dict[str, list[str]] = defaultdict(list)
    for start, end in sorted(graph.edges):
        needed_by[end].append(start)
        needs[start].append(end)
    waiting = {key: len(needed_by[key]) for key in graph.nodes}
    column = dict.fromkeys(graph.nodes, 0)
    ready = sorted(key for key, count in waiting.items() if not count)
    while waiting:
        if not ready:  # a cycle: the first one that is left begins it
            ready = [min(waiting)]
        key = ready.pop()
        if key not in waiting:
            continue
        del waiting[key]
        for other in needs[key]:
            if other in waiting:
                column[other] = max(column[other], column[key] + 1)
                waiting[other] -= 1
                if not waiting[other]:
                    ready.append(other)
    return column


def _order(column: Mapping[str, int], ways: Mapping[tuple[str, str], Sequence[str]]) -> list[list[str]]:
    """Return what each column has from top to bottom, near the middle of its peers."""
    order: list[list[str]] = [[] for _ in range(max(column.values(), default=-1) + 1)]
    for key in sorted(column):
        order[column[key]].append(key)
    near: dict[str, list[str]] = defaultdict(list)
    for (start, _), way in ways.items():
        for step, key in enumerate(way[1:-1], 1):
            order[column[start] + step].append(key)
        for left, right in pairwise(way):
            near[left].append(right)
            near[right].append(left)
    for sweep in range(SWEEPS):
        place = {key: number / max(1, len(one)) for one in order for number, key in enumerate(one)}
        for keys in order if sweep % 2 == 0 else reversed(order):
            keys.sort(key=lambda key: (_middle(near[key], place, place[key]), key))
            place |= {key: number / max(1, len(keys)) for number, key in enumerate(keys)}
    return order


def _middle(peers: Sequence[str], place: Mapping[str, float], otherwise: float) -> float:
    return sum(place[key] for key in peers) / len(peers) if peers else otherwise


def _draw_route(places: Sequence[tuple[int, int]]) -> str:
    """Return the path through the middles of a way, from the right side of the first box to the left side of the last."""
    x, y = places[0][0] + BOX_WIDTH, places[0][1]
    parts = [f"M{x} {y}"]
    for number, (left, middle) in enumerate(places[1:], 2):
        end = left - 7 if number == len(places) else left
        bend = max(GAP_ACROSS // 2, abs(end - x) // 2)
        parts.append(f"C{x + bend} {y} {end - bend} {middle} {end} {middle}")
        x, y = end, middle
        if number < len(places):
            x += BOX_WIDTH
            parts.append(f"H{x}")
    return " ".join(parts)
