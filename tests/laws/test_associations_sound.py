"""What a log's check finds of associations that the law would never have made."""

import pytest

from tests.laws.tied import made
from treaty.core.invariants import find_violations
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.values import Association

SOUND = Association("s", "orders", "lkc", "value", guid="g")


@pytest.mark.parametrize(
    ("ties", "rules"),
    [
        ([("id-1", "value", SOUND)], set()),
        ([("id-1", "key", SOUND)], {"ASSOCIATION_KEY"}),
        ([("id-1", "value", Association("s", "orders", "lkc", "value", frozen=True))], {"ASSOCIATION_FROZEN"}),
        ([("id-1", "value", Association("none", "orders", "lkc", "value"))], {"ASSOCIATION_DANGLING"}),
        (
            [
                ("id-1", "value", Association("s", "orders", "lkc", "value", "STRONG")),
                ("id-2", "value", Association("s", "users", "lkc", "value")),
            ],
            {"ASSOCIATION_SHARED"},
        ),
        (
            [("id-1", "value", SOUND), ("id-2", "key", Association("other", "orders", "lkc", "key"))],
            {"ASSOCIATION_TWICE"},
        ),
        ([("id-1", "value", SOUND), ("id-1", "key", Association("other", "orders", "lkc", "key"))], set()),
    ],
    ids=["sound", "key", "frozen", "dangling", "shared", "two ids", "both kinds"],
)
def test_what_is_unsound_is_named(ties: list[tuple[str, str, Association]], rules: set[str]) -> None:
    bench = made()
    rows = [Row("association", (resource, kind, value.subject), value) for resource, kind, value in ties]
    bench.tables.apply([encode_row(row) for row in rows], bench.position)

    assert {violation.rule for violation in find_violations(bench.tables)} == rules
