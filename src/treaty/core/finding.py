"""Findings: reasons why two schemas do not fit, or why one is not valid, and the messages of Confluent's registry about them."""

from dataclasses import dataclass

OLD_TEXT_LENGTH = 10_240
"""Characters of the old schema's text that are printed; the rest is cut."""

OTHER_FORMAT = "Incompatible because of different schema type"
EXTERNAL_REFERENCE = "A previous schema version contains an unsupported external reference"


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference that breaks a rule, between a reader schema and a writer schema.

    `rule` is the rule's identifier (a sentence in capitals), `path` a JSON pointer into the reader. `sentence`
    has the place-holders ``{reader}`` and ``{writer}``, because only the caller knows which of the two is new;
    `detail` is the short fact that dialects print beside it. `old` and `new` name what stood in the writer and in
    the reader, `remedy` says what would be allowed.
    """

    rule: str
    path: str
    sentence: str
    detail: str = ""
    writer: str = ""
    reader: str = ""
    remedy: str = ""

    def message(self, *, reader: str, writer: str) -> str:
        """Return the sentence with the words for the two sides filled in, for instance ``new`` and ``old``."""
        return self.sentence.replace("{reader}", reader).replace("{writer}", writer)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One reason why a text is not a valid schema: where it is, what stands there, what was expected.

    `path` is a JSON pointer into the text (``""`` is the root); `line` and `column` count from 1 and are 0 where
    the format does not have them.
    """

    rule: str
    path: str
    message: str
    expected: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        place = f" (line {self.line}, column {self.column})" if self.line else ""
        hint = f"; expected {self.expected}" if self.expected else ""
        return f"{self.message}{where}{place}{hint}"


@dataclass(frozen=True, slots=True)
class FailedVersion:
    """The version that a new schema does not fit, and why, in both directions.

    `backward` holds what stops the new schema from reading old data, `forward` what stops the old one from reading new
    data; a direction that the level does not ask for is empty. `sentence` stands alone in their place where nothing
    could be compared: `OTHER_FORMAT` or `EXTERNAL_REFERENCE`.
    """

    number: int
    text: str
    backward: tuple[Finding, ...] = ()
    forward: tuple[Finding, ...] = ()
    sentence: str = ""


def closing_message(level: str, *, validate_fields: bool = False) -> str:
    """Return the message that ends every list: what was in force."""
    return f"{{validateFields: '{str(validate_fields).lower()}', compatibility: '{level}'}}"


def list_messages(
    failed: FailedVersion,
    *,
    level: str,
    format: str = "AVRO",  # noqa: A002 (the word of the protocol)
    validate_fields: bool = False,
) -> tuple[str, ...]:
    """Return the messages for one version that fails, in Confluent's order and words (source: its 8.x checker).

    `level` is the level in force (``BACKWARD``, ``FULL_TRANSITIVE`` …), `format` the format of both schemas. Forward
    findings come first; the old text follows the findings of the last direction that was tried, so a FULL check that
    fails forward only shows none. The level always closes the list.
    """
    last = closing_message(level, validate_fields=validate_fields)
    if failed.sentence:
        return (failed.sentence, last)
    forward = tuple(format_finding(finding, format, reader="old", writer="new") for finding in failed.forward)
    backward = tuple(format_finding(finding, format, reader="new", writer="old") for finding in failed.backward)
    mutual = level.startswith("FULL")
    old = (f"{{oldSchemaVersion: {failed.number}}}", format_old_text(failed.text)) if backward or not mutual else ()
    return (*forward, *backward, *old, last)


def format_finding(finding: Finding, format: str, *, reader: str, writer: str) -> str:  # noqa: A002 (the word of the protocol)
    """Print one finding as the checker of its format does; `reader` and `writer` are ``new`` and ``old`` or reversed."""
    sentence = finding.message(reader=reader, writer=writer)
    if format == "JSON":
        return f'{{errorType:"{finding.rule}", description:"{sentence}\'}}'  # the odd closing quote is on the wire so
    if format == "PROTOBUF":
        return f'{{errorType:"{finding.rule}", description:"{sentence}"}}'
    return f"{{errorType:'{finding.rule}', description:'{sentence}', additionalInfo:'{finding.detail}'}}"


def format_old_text(text: str) -> str:
    """Print the old schema's text, cut where it is long."""
    if len(text) > OLD_TEXT_LENGTH:
        return f"{{oldSchema: <truncated> '{text[:OLD_TEXT_LENGTH]}...'}}"
    return f"{{oldSchema: '{text}'}}"


def format_list(lines: tuple[str, ...]) -> str:
    """Print messages as the tail of an error text: ``[a, b, c]``."""
    return f"[{', '.join(lines)}]"
