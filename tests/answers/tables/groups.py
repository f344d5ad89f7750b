"""What is asked of operations on groups, codecs, encodings, named policies and API keys."""

from tests.answers.asks import Table
from tests.answers.tables import values as v
from treaty.core.messages.groups import ListGroups

TABLES = (
    Table(
        ListGroups(),
        {"context": v.CONTEXTS, "after": ("", "a", "empty", "group", "orders", "zzz", v.LONG), "limit": v.LIMITS},
        (("limit", "after"),),
        places=("context",),
    ),
)
