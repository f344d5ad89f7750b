"""What Tab offers in a statement that is being typed in `treaty sql`: keywords, properties, and names of sources, loaded again after NAMES_SECONDS."""

import re
import threading
import time
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import click

from treaty.cli.metastore.statement_session import StatementSession
from treaty.core.column_types import SQL_TYPE_WORDS
from treaty.metastore.sql.keywords import FIRST_WORDS, QUOTED_WORDS, STATEMENT_FORMS
from treaty.metastore.sql.properties import PROPERTIES, PROPERTY_SYNONYMS, SETTINGS
from treaty.metastore.sql.statements import SHOWN, SYSTEM_TABLES

OFFERED = 200
"""The most words that are offered."""
NAMES_SECONDS = 30.0
"""Seconds after which the names are loaded again when somebody completes one."""
_BEFORE_A_NAME = frozenset(
    [
        "FROM",
        "JOIN",
        "STREAM",
        "TABLE",
        "TYPE",
        "DESCRIBE",
        "DESC",
        "EXTENDED",
        "OF",
        "INTO",
        "UPDATE",
        "EXPLAIN",
        "PRINT",
        "PAUSE",
        "RESUME",
        "UNDROP",
        "QUERY",
        "EXISTS",
    ]
)
_WORD_AFTER = {"RENAME": "TO", "SWAP": "WITH"}
"""Words that have to follow others before a name."""
_TABLE_NAMES = tuple(f"treaty.{table}" for table in sorted(SYSTEM_TABLES))
_SHOWS = frozenset({"SHOW", "LIST"})
_PROPERTY_LIST = re.compile(r"\b(?:with|set|tblproperties)\s*\((?:[^()']|'[^']*')*$", re.IGNORECASE)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
KEYWORDS = tuple(
    sorted(
        {word for forms in STATEMENT_FORMS.values() for form, _ in forms for word in re.findall(r"\b[A-Z]{2,}\b", form)}
        | set(SQL_TYPE_WORDS)
        | {"SELECT", "GROUP", "WATERMARK", "DELAY", "INTERVAL"}
    )
)
"""Words of statements and types."""


class SortedWords:
    """Words that are found by the beginning of their lower-case form, without back quotes."""

    def __init__(self, words: Iterable[str]) -> None:
        """Sort the words."""
        pairs = sorted((word.strip("`").lower(), word) for word in words)
        self._keys = [key for key, _ in pairs]
        self._words = [word for _, word in pairs]

    def find(self, beginning: str, limit: int = OFFERED) -> Sequence[str]:
        """Return the first words that begin with a text, in any case, `limit` at most."""
        key = beginning.lstrip("`").lower()
        at = bisect_left(self._keys, key)
        end = at
        while end < len(self._keys) and end < at + limit and self._keys[end].startswith(key):
            end += 1
        return self._words[at:end]


class SourceNames:
    """Names of sources and types, as they were when they were last loaded, on a thread."""

    def __init__(self, session: StatementSession) -> None:
        """Know no name yet."""
        self._session = session
        self._words = SortedWords(())
        self._load_time = 0.0
        self._thread: threading.Thread | None = None

    def load(self) -> None:
        """Load the names again on a thread, unless one is loading them."""
        if self._thread is None or not self._thread.is_alive():
            self._load_time = time.monotonic()
            self._thread = threading.Thread(target=self._load, daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait until the names that are being loaded are there."""
        if self._thread is not None:
            self._thread.join()

    def find(self, beginning: str) -> Sequence[str]:
        """Return the names that begin with a text, in any case. Those that are older than NAMES_SECONDS are loaded again, for the next call."""
        if self._load_time and time.monotonic() - self._load_time > NAMES_SECONDS:
            self.load()
        return self._words.find(beginning)

    def _load(self) -> None:
        script = "SELECT name FROM treaty.sources; SELECT name FROM treaty.types"
        try:
            results = list(self._session.run(script, {}, lambda _names: None))
        except (click.ClickException, RuntimeError):
            return  # a line being typed is no place for messages
        self._words = SortedWords(_quote(str(row[0])) for result in results for row in result.rows)


def _quote(name: str) -> str:
    is_plain = _PLAIN_NAME.fullmatch(name) and name.upper() not in QUOTED_WORDS
    return name if is_plain else f"`{name.replace('`', '``')}`"


class SqlCompleter:
    """What may stand where the cursor is."""

    def __init__(self, names: SourceNames) -> None:
        """Complete with these names."""
        self._names = names
        self._keywords = SortedWords(KEYWORDS)
        self._first_words = SortedWords(FIRST_WORDS)
        self._properties = SortedWords([*PROPERTIES, *PROPERTY_SYNONYMS, "FORMAT"])
        self._settings = SortedWords(SETTINGS)
        self._shown = SortedWords([*SHOWN, "CREATE"])

    def find(self, before: str, word: str) -> Sequence[str]:
        """Return what may stand for the beginning `word` after a text, which is that of earlier lines too."""
        statement = before.rpartition(";")[2]
        if word.lower().startswith("treaty."):
            return [name for name in _TABLE_NAMES if name.startswith(word.lower())]
        if _PROPERTY_LIST.search(statement):
            return _in_case(word, self._properties.find(word))
        words = statement.upper().split()
        if not words:
            return _in_case(word, self._first_words.find(word))
        if words[-1] in {"SET", "UNSET"} and len(words) == 1:
            return _in_case(word, self._settings.find(word))
        if words[-1] in _SHOWS and len(words) == 1:
            return _in_case(word, self._shown.find(word))
        if words[-1] in _WORD_AFTER:
            return _in_case(word, [_WORD_AFTER[words[-1]]] if _WORD_AFTER[words[-1]].startswith(word.upper()) else [])
        names = self._names.find(word)
        if names and _is_before_name(words):
            return names
        return [*_in_case(word, self._keywords.find(word)), *names][:OFFERED] if word else []


def _is_before_name(words: Sequence[str]) -> bool:
    """Return whether the name of a source or type follows words of a statement, or a short command."""
    return words[-1] in _BEFORE_A_NAME or words[-1].startswith("\\") or tuple(words[-2:]) == ("SWAP", "WITH")


def _in_case(word: str, words: Sequence[str]) -> Sequence[str]:
    """Return keywords in the case in which the user writes them."""
    return [one.lower() for one in words] if word and word.islower() else words
