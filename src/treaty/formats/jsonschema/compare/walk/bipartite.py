"""The largest set of partners: maximum matching in a bipartite graph, by the algorithm of Hopcroft and Karp (1973)."""

from collections.abc import Sequence


def match_bipartite(edges: Sequence[Sequence[int]], partners: int) -> list[int | None]:
    """For every left vertex its partner on the right, None where none is left; as many as possible have one.

    `edges` lists the right vertices that each left one may have, `partners` is the count of right ones. The first
    possible partner is preferred. Takes O(E sqrt V) steps and no recursion.
    """
    left: list[int | None] = [None] * len(edges)
    right: list[int | None] = [None] * partners
    for at, options in enumerate(edges):
        for option in options:
            if right[option] is None:
                left[at], right[option] = option, at
                break
    while (layers := _layers(edges, left, right)) is not None:
        tried = [0] * len(edges)
        for at, partner in enumerate(left):
            if partner is None:
                _augment(edges, left, right, layers, tried, at)
    return left


def _layers(edges: Sequence[Sequence[int]], left: list[int | None], right: list[int | None]) -> list[int] | None:
    """How far every left vertex is from one without a partner; None if no free partner can be reached."""
    layers = [0 if partner is None else -1 for partner in left]
    front = [at for at, partner in enumerate(left) if partner is None]
    reached = False
    while front and not reached:
        further = []
        for at in front:
            for option in edges[at]:
                holder = right[option]
                if holder is None:
                    reached = True
                elif layers[holder] < 0:
                    layers[holder] = layers[at] + 1
                    further.append(holder)
        front = further
    return layers if reached else None


def _augment(  # noqa: PLR0917 (the state of one phase)
    edges: Sequence[Sequence[int]],
    left: list[int | None],
    right: list[int | None],
    layers: list[int],
    tried: list[int],
    start: int,
) -> None:
    """Give `start` a partner along a shortest way of exchanges, if there is one that this phase has not used."""
    way = [start]
    while way:
        at = way[-1]
        if tried[at] == len(edges[at]):
            layers[at] = -1
            way.pop()
            continue
        option = edges[at][tried[at]]
        tried[at] += 1
        holder = right[option]
        if holder is None:
            while way:
                vertex = way.pop()
                left[vertex], option = option, left[vertex]  # type: ignore[assignment]
                right[left[vertex]] = vertex  # type: ignore[index]
            return
        if layers[holder] == layers[at] + 1:
            way.append(holder)
