"""The page about the APIs: its table of errors says what is answered."""

import re
from pathlib import Path

import pytest

from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.refusals import ERROR_CLASSES, Refusal, RegistryError
from treaty.core.schema import Draft
from treaty.wire.confluent import errors as confluent
from treaty.wire.iglu import errors as iglu
from treaty.wire.pravega import errors as pravega
from treaty.wire.schemarepo import errors as schemarepo

PAGE = (Path(__file__).parents[2] / "docs" / "apis.md").read_text("utf-8")
ROWS = re.findall(r"^\| `([a-z-]+)`[^|]*\| ([^|]*) \| (\d+)[^|]*\| (\d+)?[^|]*\| (\d+)?[^|]*\|$", PAGE, re.MULTILINE)
ASKED = Register(subject_of("orders"), Draft('"int"'))


def error_of(code: str) -> RegistryError:
    kind = ERROR_CLASSES[code]
    return kind.of("RULE", "a sentence") if issubclass(kind, Refusal) else kind("a sentence")


def test_every_row_is_read() -> None:
    assert len(ROWS) == PAGE.partition("## Errors")[2].count("\n| `") > 20


@pytest.mark.parametrize(("code", "first", "second", "third", "fourth"), ROWS, ids=[row[0] for row in ROWS])
def test_an_error(code: str, first: str, second: str, third: str, fourth: str) -> None:
    error = error_of(code)
    number = confluent.error_body(error, ASKED).error_code
    status = confluent.status_of(number)
    assert first == (f"{status}, {number}" if number != status else f"{status}")
    assert int(second) == pravega.status_of(error, ASKED)
    if third:
        assert int(third) == schemarepo.status_of_error(error, ASKED)
    if fourth:
        assert int(fourth) == iglu.status_of(error)
