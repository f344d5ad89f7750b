"""What is asked of operations that read schemas, versions and lists of them."""

from tests.answers.asks import Table
from tests.answers.shop import ORDERS
from tests.answers.tables import values as v
from treaty.core.messages.versions import GetVersion

TABLES = (
    Table(
        GetVersion(ORDERS, 3),
        {
            "subject": v.SUBJECTS, "version": v.VERSIONS, "deleted": v.FLAGS, "exact": v.FLAGS,
            "find_tags": ((), ("PII",), ("*",), ("A", "KEY"), ("",)),
        },
        (("version", "deleted"),),
    ),
)  # fmt: skip
