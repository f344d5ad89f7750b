"""Keys of cached answers: questions about schemas that differ in any member have different keys."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import product
from typing import Any, get_args

import pytest

from tests.laws.holder import access
from treaty.core.messages.search import SearchTerm
from treaty.core.schema import TaggedPath
from treaty.core.schema_engine import (
    CompareSchemas,
    DescribeDifferences,
    DescribeValidators,
    EarlierVersion,
    FindEntries,
    FindTags,
    InspectSchema,
    NameVersion,
    ParseSchema,
    Question,
    ResolvedReference,
    ResolvedSchema,
    RetagSchema,
    ValidateValue,
)
from treaty.node.schema_service import key_of

A, B = ResolvedSchema("AVRO", '"int"'), ResolvedSchema("AVRO", '"long"')
SCHEMAS = (
    A,
    B,
    ResolvedSchema("JSON", A.text),
    *(
        ResolvedSchema("AVRO", A.text, (ResolvedReference(name, "s", 1, part),))
        for name, part in (("n", A), ("n", B), ("m", A))
    ),
)
TAGGED = (), (TaggedPath("a", "sr_record", ("PII",)),), (TaggedPath("b", "sr_record", ("PII",)),)
PAIRS = (), (("owner", "a"),), (("owner", "b"),), (("team", "a"),)
VERSIONS = (
    (),
    (EarlierVersion(1, A),),
    (EarlierVersion(2, A),),
    (EarlierVersion(1, B),),
    (EarlierVersion(1, A, PAIRS[1]),),
    (EarlierVersion(1, A), EarlierVersion(2, B)),
)
VALUES: Mapping[type, Mapping[str, Sequence[object]]] = {
    ParseSchema: {"meaning": SCHEMAS, "strict": (True, False), "normalize": (True, False)},
    CompareSchemas: {"reader": SCHEMAS, "writer": SCHEMAS, "policy": ("STRICT", "LENIENT", "LOGICAL")},
    InspectSchema: {
        "meaning": SCHEMAS,
        "validators": ((), ("A",), ("B", "A")),
        "metadata": PAIRS,
        "versions": VERSIONS,
    },
    DescribeValidators: {"validators": ((), ("A",), ("A", "B"), ("B", "A"))},
    FindTags: {"meaning": SCHEMAS},
    RetagSchema: {"meaning": SCHEMAS, "add": TAGGED, "remove": TAGGED, "lenient": (True, False)},
    NameVersion: {
        "meaning": SCHEMAS,
        "sent": (b"", b"a"),
        "subject": ("s", "t"),
        "type_name": ("", "T"),
        "schemes": (("x",), ("y",), ("x", "y")),
    },
    ValidateValue: {"meaning": SCHEMAS, "value": (b"1", b"2"), "depth": (1, 2)},
    DescribeDifferences: {"old": SCHEMAS, "new": SCHEMAS, "sent": ("", "a", "b")},
    FindEntries: {
        "terms": ((), (SearchTerm("field", "id"),), (SearchTerm("field", "zip"),)),
        "access": (None, access("read"), access("read", subjects=("s",))),
        "after": (-1, 7),
        "limit": (10, 20),
    },
}
"""Values of all members of each kind of question: none may be left out."""


def questions_of(kind: Any) -> list[Question]:
    values = VALUES[kind]
    return [kind(**dict(zip(values, members, strict=True))) for members in product(*values.values())]


@pytest.mark.parametrize("kind", get_args(Question), ids=lambda kind: kind.__name__)
def test_questions_that_differ_in_any_member_have_different_keys(kind: type) -> None:
    assert {*VALUES[kind]} == {member.name for member in fields(kind)}
    questions = questions_of(kind)
    by_key = {key_of(question): question for question in questions}
    assert len(by_key) == len(questions)
    assert [key_of(question) for question in questions_of(kind)] == [*by_key]


def test_no_two_kinds_of_questions_share_a_key() -> None:
    keys = [{key_of(question) for question in questions_of(kind)} for kind in VALUES]
    assert len(set[object]().union(*keys)) == sum(map(len, keys))
