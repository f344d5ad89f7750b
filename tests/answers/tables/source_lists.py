"""What is asked of operations that describe and list sources, types and queries, and say where records go."""

from tests.answers.asks import Table
from tests.answers.tables import stream_values as v
from tests.answers.worlds import WRITER
from treaty.core.messages.metastore import query_feed as f
from treaty.core.messages.metastore import sources as m

TYPE_NAMES = (
    "Money",
    "money",
    "Address",
    "Person",
    "größe",
    "Größe",
    "unused",
    "Shape",
    "SIZE",
    "size",
    "missing",
    "text",
    "JSON",
    "strng",
    "x" * 21,
    "intege",
    "",
)
AFTER = ("", "board", "clickz", "orders", "totals", "äpfel", "Orders", "money", "gone")
LIMITS = (0, 1, 2, 3, 4, -1, 1000, 1001)

TABLES = (
    Table(m.DescribeSource("Orders"), {"name": v.NAMES}, drawn=0, places=("name",), share=1.0, accesses=v.ACCESSES, asker=WRITER),
    Table(m.GetDestination("clicks"), {"name": v.NAMES}, drawn=0, places=("name",), share=1.0, accesses=v.ACCESSES, asker=WRITER),
    Table(m.ListSources(), {"kind": v.KINDS, "queries": v.FLAGS, "after": AFTER, "limit": LIMITS, "upstreams": v.FLAGS}, (("kind", "queries"),), drawn=12, places=("upstreams",), every=12, share=1.0, accesses=v.ACCESSES, asker=WRITER),
    Table(m.ListDropped(), {"after": AFTER, "limit": LIMITS}, (("after", "limit"),), drawn=0, places=("limit",), every=12, share=1.0, accesses=v.ACCESSES, asker=WRITER),
    Table(f.ListQueries(), {"token": ("", "x"), "wait": (0, 5), "after": AFTER, "limit": LIMITS}, (), drawn=16, places=("token",), every=12, share=1.0, accesses=v.ACCESSES, asker=WRITER),
    Table(m.DescribeType("Money"), {"name": TYPE_NAMES}, drawn=0, places=("name",), share=1.0, accesses=v.ACCESSES, asker=WRITER),
    Table(m.ListTypes(), {"after": AFTER, "limit": LIMITS}, (("after", "limit"),), drawn=0, places=("limit",), every=12, share=1.0, accesses=v.ACCESSES, asker=WRITER),
    Table(m.ListDependents("Orders"), {"name": (*v.SOURCES, *TYPE_NAMES, "ÄPFEL"), "kind": ("SOURCE", "TYPE", "VERSION"), "recursive": v.FLAGS}, (("name", "kind"), ("name", "recursive")), drawn=20, places=("name",), share=1.0, accesses=v.ACCESSES, asker=WRITER, every=3, more=tuple(m.ListDependents(name, "TYPE", recursive) for name in TYPE_NAMES for recursive in v.FLAGS)),
)  # fmt: skip
