"""Conversations about what a subject's owner demands: compatibility policy, validators, reserved fields."""

from collections.abc import Iterator

import pytest

from tests.facades.conversation import ANY, Turn, error, hold, registered
from tests.real.running import Running, serving


def record(*fields: str) -> str:
    return '{"type":"record","name":"R","fields":[' + ",".join(fields) + "]}"


A = '{"name":"a","type":"int"}'
B = '{"name":"b","type":"int","default":0}'
TOLD = '{"name":"b","type":"int","doc":"how many","default":0}'
DOC_A = '{"name":"a","type":"int","doc":"which"}'


def undocumented(name: str, at: int, column: int) -> str:
    return (
        f"the field '{name}' of R has no doc at /fields/{at} (line 1, column {column}); "
        'expected a member "doc" that says what the field means'
    )


SETTINGS: list[Turn] = [
    ("PUT", "/config/s", {"compatibilityPolicy": "lenient"}, 200, {"compatibilityPolicy": "LENIENT"}),
    ("GET", "/config/s", None, 200, {"compatibilityLevel": "BACKWARD", "compatibilityPolicy": "LENIENT"}),
    ("PUT", "/config/s", {"compatibilityPolicy": "kind"}, 422, error(42203,
     "Invalid compatibility policy. Valid values are strict, lenient and logical; not 'KIND'")),
    ("PUT", "/config/s", {"compatibilityPolicy": None}, 200, {}),
    ("PUT", "/config", {"validators": ["FIELD_DOC_MISSING"]}, 200, {"validators": ["FIELD_DOC_MISSING"]}),
    ("GET", "/config/s?defaultToGlobal=true", None, 200,
     {"compatibilityLevel": "BACKWARD", "validators": ["FIELD_DOC_MISSING"]}),
    ("PUT", "/config/s", {"validators": []}, 200, {"validators": []}),
    ("GET", "/config/s?defaultToGlobal=true", None, 200, {"compatibilityLevel": "BACKWARD", "validators": []}),
    ("PUT", "/config/s", {"validators": ["DOC_MISSING", "SPELLING", "DOC_MISSING"]}, 422, error(42203,
     "Invalid validators. There is no validator SPELLING on this node; not 'SPELLING'")),
    ("PUT", "/config/s", {"validators": ["DOC_MISSING", "DOC_MISSING"]}, 200, {"validators": ["DOC_MISSING"]}),
    ("PUT", "/config/s", {"validators": "DOC_MISSING"}, 400, error(400, ANY)),
    ("PUT", "/config/s", {"validators": None}, 200, {}),
    ("GET", "/config/s", None, 200, {"compatibilityLevel": "BACKWARD"}),
    ("DELETE", "/config", None, 200, {"validators": ["FIELD_DOC_MISSING"]}),
    ("GET", "/config", None, 200, {"compatibilityLevel": "BACKWARD"}),
]  # fmt: skip

VALIDATORS: list[Turn] = [
    ("PUT", "/config/s", {"validators": ["FIELD_DOC_MISSING"]}, 200, ANY),
    ("POST", "/compatibility/subjects/s/versions/latest?verbose=true", {"schema": record(A)}, 200, {
        "is_compatible": False,
        "messages": [
            f"{{errorType:'FIELD_DOC_MISSING', description:'{undocumented('a', 0, 39)}', additionalInfo:''}}",
            "{validateFields: 'false', compatibility: 'BACKWARD'}"]}),
    ("POST", "/subjects/s/versions", {"schema": record(A, B)}, 422, error(42201,
     "Invalid schema of type AVRO, details: the validators of subject s demand more: "
     f"FIELD_DOC_MISSING: {undocumented('a', 0, 39)}; FIELD_DOC_MISSING: {undocumented('b', 1, 65)}")),
    ("GET", "/subjects", None, 200, []),
    ("POST", "/subjects/s/versions", {"schema": record(DOC_A)}, 200, registered(1, 1, record(DOC_A))),
    ("POST", "/subjects/s/versions", {"schema": record(DOC_A, TOLD)}, 200, registered(2, 2, record(DOC_A, TOLD))),
    ("POST", "/compatibility/subjects/s/versions/1?verbose=true", {"schema": record(DOC_A, TOLD)}, 200,
     {"is_compatible": True, "messages": []}),
    ("POST", "/subjects/s/versions?force=true", {"schema": record(A)}, 200, registered(3, 3, record(A))),
]  # fmt: skip

RESERVED = {"properties": {"confluent:reserved": "b, c"}}
REMOVED = "The new schema has reserved field c removed from its metadata which is present in the old schema's metadata."
USED = "The new schema has field that conflicts with the reserved field b."
CLOSING = "{validateFields: 'true', compatibility: 'BACKWARD'}"
FIELDS: list[Turn] = [
    ("PUT", "/config/s", {"validateFields": True}, 200, {"validateFields": True}),
    ("POST", "/subjects/s/versions", {"schema": record(A), "metadata": RESERVED}, 200,
     registered(1, 1, record(A), metadata=RESERVED)),
    ("POST", "/compatibility/subjects/s/versions/latest?verbose=true",
     {"schema": record(A, B), "metadata": {"properties": {"confluent:reserved": "b"}}}, 200,
     {"is_compatible": False, "messages": [REMOVED, USED, CLOSING]}),
    ("POST", "/compatibility/subjects/s/versions?verbose=true", {"schema": record(A, B)}, 200,
     {"is_compatible": False, "messages": [USED, CLOSING]}),
    ("POST", "/subjects/s/versions", {"schema": record(A, B)}, 409, error(40901,
     'Schema being registered is incompatible with an earlier schema for subject "s", details: '
     f"[{USED}, {CLOSING}]")),
    ("PUT", "/config/s", {"validateFields": False}, 200, {"validateFields": False}),
    ("POST", "/subjects/s/versions", {"schema": record(A, B)}, 200,
     registered(2, 2, record(A, B), metadata=RESERVED)),
]  # fmt: skip

STORIES = {"settings": SETTINGS, "validators": VALIDATORS, "reserved fields": FIELDS}


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("server"), "--log", "memory:") as running:
        yield running


@pytest.mark.parametrize("story", STORIES)
def test_a_conversation(server: Running, story: str) -> None:
    hold(server, STORIES[story])
