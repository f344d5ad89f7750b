"""A finding: one reason why two schemas do not fit, or why one is not valid."""

from dataclasses import dataclass


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
