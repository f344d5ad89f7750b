"""What a life has instead of the machine's own: randomness of tools, small batches, rows that are read once."""

import gc
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import pytest

from tests.simulation.members import HANDED
from tests.worlds.world import PAGES
from treaty.core import limits, outcomes
from treaty.core.state import rows, tables
from treaty.log.maintenance import restore
from treaty.node import forwarder, peer_batches, queued_command

RESTORE_BYTES = 2_500
"""So that a restore needs several appends."""
FORGETFUL = 0.25
"""In how many lives outcomes are soon forgotten: after `REMEMBERED` commits, `DROPPED` of them at once. Where commands are
handed over outcomes are remembered longer than those may wait.
"""
REMEMBERED, DROPPED = 15, 2
TIGHT = 0.2
"""In how many lives there is little room: few versions of a subject, few schemas and subjects of a context, few contexts."""
ROOM = {"VERSIONS_PER_SUBJECT": 3, "VERSIONS_KEPT_PER_SUBJECT": 4, "VERSIONS_DROPPED": 1, "CONTEXTS": 4,
        "SUBJECTS_PER_CONTEXT": 4, "SCHEMAS_PER_CONTEXT": 5, "SOURCES": 6, "TYPES": 3, "INCARNATIONS": 2, "ONCE_QUERIES": 2,
        "DROPPED_EXPIRED": 1}  # fmt: skip
NARROW = 0.5
"""In how many lives with handed commands few of them travel at once: `PEER_BATCH` in one batch, `PEER_REQUESTS` batches."""
GRACES = (50, 400, 5_000)
"""Milliseconds for which a dropped source can come back, in some lives."""
PAGED = 0.3
"""In how many lives pages are small."""
YOUNG = 50_000
"""Objects that are made before garbage is looked for; lives make much of it and hold little."""

_read = lru_cache(100_000)(rows.decode_row)


@contextmanager
def grounded(seed: int, *, hands_over: bool = False) -> Iterator[None]:
    """Let one life begin; reading a row is pure, so all nodes and the judge share what was read."""
    before = gc.get_threshold()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", random.Random(f"tools/{seed}").randbytes)
        patch.setattr(restore, "RESTORE_BYTES", RESTORE_BYTES)
        patch.setattr(tables, "decode_row", _read)
        for module in (forwarder, queued_command):
            patch.setattr(module, "HANDED_WITHIN", HANDED)
        if not hands_over and random.Random(f"outcomes/{seed}").random() < FORGETFUL:
            for module in (limits, outcomes, queued_command):
                patch.setattr(module, "OUTCOMES", REMEMBERED)
            for module in (limits, outcomes):
                patch.setattr(module, "OUTCOMES_DROPPED", DROPPED)
        if random.Random(f"room/{seed}").random() < TIGHT:
            for name, most in ROOM.items():
                patch.setattr(limits, name, most)
        patch.setattr(limits, "DROP_GRACE", random.Random(f"grace/{seed}").choice([*GRACES, limits.DROP_GRACE]))
        if random.Random(f"pages/{seed}").random() < PAGED:
            for name, (least, _) in PAGES.items():
                patch.setattr(limits, name, least)
        narrow = random.Random(f"batches/{seed}")
        if hands_over and narrow.random() < NARROW:
            patch.setattr(peer_batches, "PEER_BATCH", narrow.choice([1, 2, 3]))
            patch.setattr(peer_batches, "PEER_REQUESTS", narrow.choice([1, 2]))
        gc.set_threshold(YOUNG, *before[1:])
        try:
            yield
        finally:
            gc.set_threshold(*before)
