"""The bodies of ksqlDB's REST interface that are sent, and those of its errors."""

from typing import Any

from msgspec import Struct, field

KSQL_MEDIA = "application/vnd.ksql.v1+json"
DELIMITED_MEDIA = "application/vnd.ksqlapi.delimited.v1"
JSON_MEDIA = "application/json"

KsqlEntity = dict[str, Any]
"""What a statement came to: `@type` says what else is in it."""


class KsqlStatementsBody(Struct, rename="camel"):
    """Statements with semicolons between them. Of ``streamsProperties`` the start of queries, ``auto.offset.reset``, means something here.

    ``sessionVariables`` are replaced in the statements. An answer is never older than ``commandSequenceNumber``.
    """

    ksql: str
    streams_properties: dict[str, Any] | None = None
    session_variables: dict[str, Any] | None = None
    command_sequence_number: int | None = None


class KsqlErrorBody(Struct, omit_defaults=True):
    """An error: `error_code` is the status with two digits behind it.

    That of a statement has its text, and `entities` are the results of the statements before it, which stay.
    """

    type: str = field(name="@type")
    error_code: int
    message: str
    statement_text: str | None = field(name="statementText", default=None)
    entities: list[KsqlEntity] | None = None
