"""Errors in the shapes of ksqlDB's REST interface: status, `error_code`, message and statement."""

from collections.abc import Sequence

from treaty.api.errors import HttpError
from treaty.api.ksqldb.bodies import KsqlEntity, KsqlErrorBody
from treaty.core.refusals import Refusal, RegistryError
from treaty.wire.metastore import ASSERT_FAILED, status_of

BAD_STATEMENT = 40001
"""A statement that is not taken."""
QUERY_ENDPOINT = 40002
"""A query, which is no statement."""
RESULT_RULE = "KSQL_RESULT"
QUERY_RULE = "KSQL_QUERY"
_KEPT = frozenset({401, 403, 503, 504})
"""Statuses that say something else than that a statement is not taken."""


class KsqlStatementError(Exception):
    """A statement was refused; what those before it came to stays."""

    def __init__(self, error: RegistryError, sent: str, entities: Sequence[KsqlEntity] = ()) -> None:
        """Set the refusal, the text of the statement and the results of those before it."""
        super().__init__(str(error))
        self.error = error
        self.sent = sent
        self.entities = list(entities)


def describe_failure(failure: Exception) -> tuple[int, KsqlErrorBody]:
    """Return the status and the body of a failure: a refused statement, a refusal of the registry, or an error of HTTP."""
    if isinstance(failure, KsqlStatementError):
        code = code_of(failure.error, BAD_STATEMENT)
        message = message_of(failure.error)
        return code // 100, KsqlErrorBody("statement_error", code, message, f"{failure.sent};", failure.entities)
    if isinstance(failure, RegistryError):
        code = code_of(failure, 40000)
        return code // 100, KsqlErrorBody("generic_error", code, message_of(failure))
    assert isinstance(failure, HttpError), "a dialect has no other failures"
    return failure.status, KsqlErrorBody("generic_error", failure.status * 100, str(failure))


def code_of(error: RegistryError, refused: int) -> int:
    """Return the code of a refusal; `refused` for one that is about what was sent, which ksqlDB answers with 400."""
    if isinstance(error, Refusal) and error.reason.rule == ASSERT_FAILED:
        return 41700
    if isinstance(error, Refusal) and error.reason.rule == QUERY_RULE:
        return QUERY_ENDPOINT
    status = status_of(error)
    return status * 100 if status in _KEPT or status >= 500 else refused


def message_of(error: RegistryError) -> str:
    """Return what a refusal says, with its remedy."""
    if not isinstance(error, Refusal) or not error.reason.allowed or error.reason.allowed in error.reason.message:
        return str(error)
    return f"{error.reason.message}. Allowed: {error.reason.allowed}"
