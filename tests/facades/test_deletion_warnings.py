"""A soft deletion of what sources are bound to names these sources, through every API that deletes."""

from collections.abc import Callable, Iterator

import httpx2
import pytest

from tests.behaviours.served import served
from treaty.core.messages.groups import DeleteOrdinal
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import subject_of
from treaty.wire.http_response import HttpResponse
from treaty.wire.native import MEDIA, PATH, ask_bytes, read_answer

SQL = """
CREATE STREAM `é` (v INT) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO');
CREATE STREAM b (v INT) WITH (KAFKA_TOPIC = 'other', SUBJECT = '{0}-value', VALUE_FORMAT = 'AVRO');
"""


@pytest.fixture
def http() -> Iterator[httpx2.Client]:
    with served("memory:") as running, httpx2.Client(base_url=running.url) as client:
        made = client.post("/metastore/v1/statements", json={"sql": SQL.format("t")})
        assert made.status_code == 200, made.text
        yield client


def ask(http: httpx2.Client, request: DeleteVersion | DeleteOrdinal) -> httpx2.Response:
    return http.post(PATH, content=ask_bytes(request), headers={"content-type": MEDIA})


@pytest.mark.parametrize(
    "delete",
    [
        lambda http: http.delete("/subjects/t-value/versions/1"),
        lambda http: http.delete("/subjects/t-value"),
        lambda http: http.delete("/v1/groups/t-value/schemas/schema/0"),
        lambda http: ask(http, DeleteVersion(subject_of("t-value"), 1)),
        lambda http: ask(http, DeleteOrdinal(subject_of("t-value"), 0)),
    ],
    ids=["confluent version", "confluent subject", "pravega", "native version", "native ordinal"],
)
def test_a_soft_deletion_names_the_sources_that_are_bound(
    http: httpx2.Client, delete: Callable[[httpx2.Client], httpx2.Response]
) -> None:
    deleted = delete(http)
    assert deleted.status_code < 300, deleted.text
    assert deleted.headers["treaty-warning"] == "SOURCE_PINNED b, %C3%A9"


def test_the_answer_of_treaty_has_the_names(http: httpx2.Client) -> None:
    request = DeleteVersion(subject_of("t-value"), 1)
    sent = ask(http, request)
    answer = read_answer(request, HttpResponse(sent.status_code, sent.headers.get, sent.content)).answer
    assert (answer.numbers, answer.warnings) == ((1,), ("b", "é"))


def test_a_deletion_of_what_nobody_is_bound_to_warns_of_nothing(http: httpx2.Client) -> None:
    http.post("/subjects/free/versions", json={"schema": '"string"'})
    assert "treaty-warning" not in http.delete("/subjects/free").headers
    sql = "DROP STREAM `é`; DROP STREAM b"
    assert http.post("/metastore/v1/statements", json={"sql": sql}).status_code == 200
    assert "treaty-warning" not in http.delete("/subjects/t-value").headers
