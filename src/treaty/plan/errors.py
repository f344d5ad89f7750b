"""Why something has no part in a plan: sentences for rows that can't be read, and for plans that can't be made."""

from collections.abc import Iterable, Sequence

from treaty.core.finding import Finding, shorten_text
from treaty.core.limits import ERROR_CHARACTERS, FAULT_CHARACTERS
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import RejectedSchema

RESOLUTION = "RESOLUTION"
FINDING_CHARACTERS = FAULT_CHARACTERS // 2
"""Characters of what a comparison found, in the sentence of a bad row: each row of a writer may have it."""
WRONG_SUBJECT = "WRONG_SUBJECT"


class PlanError(ValueError):
    """No plan can be made: the sentence says what is missing and what would help. `rejected` are ids that no row could be read of."""

    def __init__(self, message: str, rejected: Sequence[RejectedSchema] = ()) -> None:
        super().__init__(shorten_text(message, ERROR_CHARACTERS))
        self.rejected = tuple(rejected)


def refuse_schema(schema: RegisteredSchema, findings: Sequence[Finding]) -> RejectedSchema:
    """A writer that the reader cannot read, by what the format's comparison found."""
    where = f"id {schema.schema_id} ({schema.subject} version {schema.version})"
    sentence = f"{where} cannot be read: {_print_first(schema, findings)}"
    return RejectedSchema(schema.schema_id, RESOLUTION, sentence)


def refuse_value(schema: RegisteredSchema, findings: Sequence[Finding]) -> str:
    """What is said of a row of a writer that the reader takes some values of, where the row has another value."""
    where = f"id {schema.schema_id} ({schema.subject} version {schema.version})"
    return f"this row of {where} has a value that the reader does not take: {_print_first(schema, findings)}"


def _print_first(schema: RegisteredSchema, findings: Sequence[Finding]) -> str:
    messages = [finding.message(reader="reader", writer=f"version {schema.version}") for finding in findings]
    more = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
    return f"{shorten_text(messages[0], FINDING_CHARACTERS)}{more}"


def reject_schema(schema: RegisteredSchema, why: object) -> RejectedSchema:
    """A version that has no part in the union of all."""
    return RejectedSchema(schema.schema_id, RESOLUTION, f"version {schema.version} has no part in the union: {why}")


def nothing_readable(rejected: Sequence[RejectedSchema]) -> PlanError:
    """The error of a plan without a writer."""
    reasons = "; ".join(one.message for one in rejected[:3]) or "no schema ids are known"
    return PlanError(f"no rows can be decoded: {reasons}. Register a version first, or choose another reader", rejected)


def drop_twins(rejected: Iterable[RejectedSchema]) -> tuple[RejectedSchema, ...]:
    """The first reason of each id."""
    first: dict[int, RejectedSchema] = {}
    for rejection in rejected:
        first.setdefault(rejection.schema_id, rejection)
    return tuple(first.values())
