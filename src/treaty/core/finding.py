"""Findings about two schemas, faults of one, and their messages in the form of Confluent's registry."""

import re

from treaty.light_dataclass import dataclass

OLD_TEXT_LENGTH = 10_240
"""The most characters of the old schema in a message."""

OTHER_FORMAT = "Incompatible because of different schema type"
EXTERNAL_REFERENCE = "A previous schema version contains an unsupported external reference"

FINDING_FORM = "{errorType:'{rule}', description:'{sentence}', additionalInfo:'{detail}'}"
"""A finding as a message, in the form that Confluent has for Avro. A format may have a form of its own."""
_PLACEHOLDER = re.compile(r"\{(rule|sentence|detail|path|remedy|writer|reader)\}")


def shorten_text(text: str, limit: int) -> str:
    """Return a text of at most so many characters; a longer one ends with how many it had."""
    if len(text) <= limit:
        return text
    ending = f"… ({len(text)} characters)"
    return f"{text[: limit - len(ending)]}{ending}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference that breaks a rule, between a reader schema and a writer schema.

    `rule` is the identifier of the rule, `path` a JSON pointer into the reader. `sentence` has the placeholders
    ``{reader}`` and ``{writer}``, because only the caller knows which of the two is new; `detail` is the additional
    info of dialects. `old` and `new` are the parts of writer and reader, `remedy` is what would be allowed.
    """

    rule: str
    path: str
    sentence: str
    detail: str = ""
    writer: str = ""
    reader: str = ""
    remedy: str = ""

    def message(self, *, reader: str, writer: str) -> str:
        """Return the sentence with the names of both sides, such as ``new`` and ``old``."""
        return self.sentence.replace("{reader}", reader).replace("{writer}", writer)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One reason why a text is not a valid schema: its path, what was found, and what was expected.

    `path` is a JSON pointer into the text (``""`` is the root); `line` and `column` count from 1 and are 0 if the
    format does not have them.
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
class TextPlace:
    """A place in a text that is shown: `line` and `column` count from 1, `offset` is characters from the beginning.

    `exact`: what the path leads to stands there; else it is what would hold it.
    """

    line: int
    column: int
    offset: int
    exact: bool = True


@dataclass(frozen=True, slots=True)
class ExplainedDifference:
    """One difference of an old and a new schema, harmful or not.

    `harm` is ``backward`` (the new schema cannot read old data), ``forward`` (the old one cannot read new data), ``both``
    or ``none``. `reader` says into which schema `path` leads: ``new`` or ``old``. `old` and `new` are the parts of
    the two. `policy` is the only compatibility policy that has this finding; empty: the strictness of every one.
    `old_place` and `new_place` are in the texts that are shown, `sent_place` in the new text as it was sent; None where it has
    none.
    """

    rule: str
    path: str
    harm: str
    sentence: str
    detail: str = ""
    old: str = ""
    new: str = ""
    remedy: str = ""
    policy: str = ""
    reader: str = "new"
    old_place: TextPlace | None = None
    new_place: TextPlace | None = None
    sent_place: TextPlace | None = None


@dataclass(frozen=True, slots=True)
class LevelResult:
    """How many findings refuse a change under a level, compared as a compatibility policy does; 0: it passes."""

    level: str
    policy: str
    findings: int


@dataclass(frozen=True, slots=True)
class FailedVersion:
    """The version with which a new schema is incompatible, and the findings of both directions.

    `backward`: why the new schema cannot read old data; `forward`: why the old one cannot read new data; empty for a
    direction that the level does not compare. `sentence` replaces them if the schemas could not be compared:
    `OTHER_FORMAT` or `EXTERNAL_REFERENCE`.
    """

    number: int
    text: str
    backward: tuple[Finding, ...] = ()
    forward: tuple[Finding, ...] = ()
    sentence: str = ""


def closing_message(level: str, *, validate_fields: bool = False) -> str:
    """Return the last message of every list: the settings in force."""
    return f"{{validateFields: '{str(validate_fields).lower()}', compatibility: '{level}'}}"


def list_messages(
    failed: FailedVersion, *, level: str, form: str = FINDING_FORM, validate_fields: bool = False
) -> tuple[str, ...]:
    """Return the messages for one version that fails, in Confluent's order and words (source: its 8.x checker).

    `level` is the level in force (``BACKWARD``, ``FULL_TRANSITIVE`` …), `form` that of findings in the format of both schemas. Forward
    findings come first; the old text follows the findings of the last direction that was tried, so a FULL check that
    fails forward only shows none. The level always closes the list.
    """
    last = closing_message(level, validate_fields=validate_fields)
    if failed.sentence:
        return (failed.sentence, last)
    forward = tuple(format_finding(finding, form, reader="old", writer="new") for finding in failed.forward)
    backward = tuple(format_finding(finding, form, reader="new", writer="old") for finding in failed.backward)
    mutual = level.startswith("FULL")
    old = (f"{{oldSchemaVersion: {failed.number}}}", format_old_text(failed.text)) if backward or not mutual else ()
    return (*forward, *backward, *old, last)


def format_finding(finding: Finding, form: str, *, reader: str, writer: str) -> str:
    """Return one finding in the form of its format; `reader` and `writer` are ``new`` and ``old`` or reversed.

    A form has members of `Finding` in braces, the sentence with both sides named.
    """
    sentence = finding.message(reader=reader, writer=writer)
    return _PLACEHOLDER.sub(lambda name: sentence if name[1] == "sentence" else str(getattr(finding, name[1])), form)


def format_old_text(text: str) -> str:
    """Return the message with the old schema's text, truncated."""
    if len(text) > OLD_TEXT_LENGTH:
        return f"{{oldSchema: <truncated> '{text[:OLD_TEXT_LENGTH]}...'}}"
    return f"{{oldSchema: '{text}'}}"


def format_list(lines: tuple[str, ...]) -> str:
    """Return messages as the end of an error text: ``[a, b, c]``."""
    return f"[{', '.join(lines)}]"
