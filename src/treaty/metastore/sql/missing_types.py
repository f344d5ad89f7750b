"""Types that columns of a statement have and that are not there: all of them, each at its place in the text."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import SqlToken, read_quoted, split_tokens
from treaty.metastore.sql.diagnostics import LineIndex, MissingTypesError, SqlDiagnostic

_BEFORE_NAMES = frozenset({"ADD", "COLUMN", "EXISTS", "STREAM", "TABLE", "TYPE"})
"""Words before the name of a source or of a column."""


def place_types(error: MissingTypesError, text: str) -> MissingTypesError:
    """Return the error with the names as the text of its statement has them, each with its place."""
    lines = LineIndex(text)
    reasons = {lower_name(missing.reason.new): missing.reason for missing in error.missing}
    diagnostics = tuple(
        SqlDiagnostic(
            "TYPE_UNKNOWN", f"there is no type {token.label}", token.start, token.end, *lines.find(token.start),
            hint=reasons[name].allowed,
        )
        for name, token in _list_types(split_tokens(text))
        if name in reasons
    )  # fmt: skip
    if not diagnostics:
        return error
    first, more = diagnostics[0], len(diagnostics) - 1
    words = f" (and {more} more)" if more else ""
    message = f"line {first.line}, column {first.column}: {first.message}{words}"
    reason = replace(error.reason, message=message, old="", allowed=first.hint, details=tuple(map(str, diagnostics)))
    return MissingTypesError(reason, error.missing, diagnostics)


def _list_types(tokens: Sequence[SqlToken]) -> Iterator[tuple[str, SqlToken]]:
    """Yield the words that can be types of columns, by key: those behind a name, or inside of another type."""
    angles = 0
    for before, token in pairwise(tokens):
        if before.kind == "sign":
            angles += (before.text == "<") - (before.text == ">")
        is_inside = before.text in {"<", ":"} or (before.text == "," and angles > 0)
        is_behind = before.kind in {"word", "quoted"} and before.keyword not in _BEFORE_NAMES
        if (is_inside or is_behind) and token.kind in {"word", "quoted"}:
            yield lower_name(read_quoted(token) if token.kind == "quoted" else token.text), token
