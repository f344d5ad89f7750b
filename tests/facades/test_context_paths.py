"""Each route below `/contexts/{context}` asks the same as the route itself with names of that context; names of another one stay as they are."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.facades.twin import VERSION, Fixed
from treaty.api.confluent.routes import TABLE

PREFIXED = ("/subjects", "/schemas", "/treaty/settings")
BY_ID = [path for path in TABLE if path.startswith("/schemas/ids/")]
OF_SUBJECTS = [path for path in TABLE if "subjects/{}" in path]
OF_SCOPES = [path for path in TABLE if path.startswith(("/config", "/mode"))]
ALIKE = [
    path
    for path in TABLE
    if path not in {*PREFIXED, *BY_ID, *OF_SUBJECTS, *OF_SCOPES}
    and not path.startswith(("/contexts", "/treaty/contexts"))
    and path != "/"
]
"""Routes that name no subject in path or query."""
VALUES: Mapping[str, str] = {"version": "3", "id": "7", "guid": VERSION.guid}
BODIES: Mapping[str, Any] = {"PUT": {"mode": "READONLY"}, "POST": {"schema": '"string"'}, "DELETE": None, "GET": None}


def targets(path: str) -> list[tuple[str, str]]:
    """The methods of a path, each with the path in which all but the subject has a value."""
    return [
        (method, "".join(f"/{segment}" for segment in filled(path, operation)))
        for method, operation in TABLE[path].items()
    ]


def filled(path: str, operation: Any) -> list[str]:
    values = iter(operation.path)
    segments = path.strip("/").split("/")
    return [VALUES.get(name := next(values).name, f"<{name}>") if segment == "{}" else segment for segment in segments]


def ask(http: TestClient, member: Fixed, method: str, target: str, body: Any = None) -> list[object]:
    """What is asked of the registry."""
    member.asked.clear()
    answer = http.request(method, target, json=BODIES[method] if body is None else body)
    assert answer.status_code < 300, (target, answer.text)
    return [*member.asked]


CONTEXTS = (("x", ".x"), (".x", ".x"), (":.x:", ".x"), (":.:", "."))
"""Words for a context in a path, and its name."""


@pytest.mark.parametrize("path", [*OF_SUBJECTS, *(path for path in OF_SCOPES if "{}" in path)])
def test_a_subject_in_the_path_is_one_of_the_context(http: TestClient, member: Fixed, path: str) -> None:
    names = {"s": "s", "a%20b": "a%20b", "a%2Fb": "a%2Fb", ":.y:s": None}
    for (method, target), (word, context), (name, bare) in (
        *product(targets(path), CONTEXTS[:1], names.items()), *product(targets(path), CONTEXTS[1:], [("s", "s")]),
    ):  # fmt: skip
        asked = ask(http, member, method, f"/contexts/{word}{target.replace('<subject>', name)}")
        qualified = name if bare is None else f":{context}:{bare}"
        assert asked == ask(http, member, method, target.replace("<subject>", qualified))


@pytest.mark.parametrize(("word", "context"), CONTEXTS)
@pytest.mark.parametrize("path", ["/config", "/mode"])
def test_settings_without_a_subject_are_those_of_the_context(
    http: TestClient, member: Fixed, path: str, word: str, context: str
) -> None:
    for method, target in targets(path):
        assert ask(http, member, method, f"/contexts/{word}{target}") == ask(
            http, member, method, f"{target}/:{context}:"
        )


QUERIES = {
    "": ":.x:",
    "{0}=": ":.x:",
    "{0}=a": ":.x:a",
    "{0}=:.y:a": ":.y:a",
    "{0}=:*:a": ":*:a",
    "deleted=true&{0}=a": ":.x:a&deleted=true",
}
"""By what is sent in the query: what it means below the context .x; the name of the member is left open."""


@pytest.mark.parametrize(
    ("path", "name"), [*((path, "subjectPrefix") for path in PREFIXED), *((path, "subject") for path in BY_ID)]
)
def test_a_subject_in_the_query_is_one_of_the_context(http: TestClient, member: Fixed, path: str, name: str) -> None:
    (method, target), *_ = targets(path)
    for sent, qualified in QUERIES.items():
        asked = ask(http, member, method, f"/contexts/.x{target}?{sent.format(name)}")
        assert asked == ask(http, member, method, f"{target}?{name}={qualified}")


@pytest.mark.parametrize("path", ["/associations", "/associations:batchMutate"])
@pytest.mark.parametrize(("word", "context"), CONTEXTS)
def test_subjects_of_associations_are_those_of_the_context(
    http: TestClient, member: Fixed, path: str, word: str, context: str
) -> None:
    resource = {
        "resourceName": "n",
        "resourceNamespace": "c",
        "resourceId": "i",
        "associations": [{"opType": "CREATE", "subject": "s"}],
    }
    body = {"requests": [resource]} if path.endswith("Mutate") else resource
    asked = ask(http, member, "POST", f"/contexts/{word}{path}", body)
    assert asked == ask(http, member, "POST", f"{path}?context={context}", body)
    assert f"context='{context}'" in repr(asked)


@pytest.mark.parametrize("path", [path for path in ALIKE if "associations" not in path])
def test_what_names_no_subject_is_the_same_in_each_context(http: TestClient, member: Fixed, path: str) -> None:
    for method, target in targets(path):
        whole = target.replace("<command>", "c1")
        assert ask(http, member, method, f"/contexts/.x{whole}") == ask(http, member, method, whole)
