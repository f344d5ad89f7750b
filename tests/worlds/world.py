"""Worlds: which histories happened before a test, and how large pages are; drawn by hypothesis, or chosen by name."""

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.worlds.drafts import Drafts, toys
from tests.worlds.histories import FORMER, NEIGHBOURS, Requests, Setting
from treaty.core import limits
from treaty.core.messages.request import Request
from treaty.core.names import Subject

PAGES: Mapping[str, tuple[int, ...]] = {
    "ENCODINGS_PAGE": (3, 10_000),
    "EXPORT_PAGE": (3, 1_000),
    "GROUPS_PAGE": (3, 1_000),
    "POLICIES_PAGE": (3, 1_000),
    "PUBLISHED_PAGE": (3, 1_000),
    "SETTINGS_PAGE": (3, 1_000),
    "API_KEYS_PAGE": (3, 1_000),
    "EXPORT_CHARACTERS": (40, 4_000_000),
}
"""Sizes of pages that a test is run with, by the names of their limits."""
AWAY = Subject(".away", "w-")
"""Where the neighbours of a subject are: no id and no name of another context is theirs."""


@dataclass(frozen=True, slots=True)
class World:
    """What happened before a test, and the sizes of pages in it."""

    seed: int = 0
    neighbours: tuple[str, ...] = tuple(NEIGHBOURS)
    former: str = "nothing"
    pages: tuple[tuple[str, int], ...] = ()
    place: Subject = AWAY
    pool: tuple[Subject, ...] = ()
    """Subjects in which the histories of neighbours happen, where they may be refused; none: each in one of its own."""

    def requests(self, subject: Subject | None = None, drafts: Drafts = toys) -> Requests:
        """All requests of the histories, those of `subject` last."""
        asked: Requests = []
        for name in self.neighbours:
            dice = random.Random(f"{self.seed}/{name}")
            asked += NEIGHBOURS[name](Setting(self.place, dice, drafts, self.pool))
        if subject is not None:
            asked += FORMER[self.former](Setting(subject, random.Random(f"{self.seed}/{self.former}"), drafts))
        return asked

    def begin(self, do: Callable[[Request[Any]], Any], subject: Subject | None = None, drafts: Drafts = toys) -> None:
        """Let it happen. Whatever is refused is an error of the history."""
        for request in self.requests(subject, drafts):
            do(request)

    @contextmanager
    def paged(self) -> Iterator[None]:
        """Have pages of these sizes, for a registry and for those who go through its pages."""
        usual = {name: getattr(limits, name) for name, _ in self.pages}
        with pytest.MonkeyPatch.context() as patch:
            for module in [one for name, one in sys.modules.items() if name.startswith("treaty.")]:
                for name, size in self.pages:
                    if vars(module).get(name) == usual[name]:
                        patch.setattr(module, name, size)
            yield


def worlds(neighbours: int = 3) -> st.SearchStrategy[World]:
    """Worlds with so many histories of neighbours at most; the smallest is an empty registry with pages as usual."""
    sizes = st.tuples(*(st.sampled_from(sizes[::-1]) for sizes in PAGES.values()))
    pages = sizes.map(lambda chosen: tuple(zip(PAGES, chosen, strict=True)))
    return st.builds(
        World,
        st.integers(0, 99),
        st.lists(st.sampled_from([*NEIGHBOURS]), unique=True, max_size=neighbours).map(tuple),
        st.sampled_from([*FORMER]),
        pages,
    )
