"""The statements of the metastore as frozen values, what SHOW and LIST take (`SHOWN`), and which tables ``treaty.*`` there are (`SYSTEM_TABLES`).

A `kind` of a source is STREAM or TABLE, or empty where the statement says neither. Names are spelled as there. A member at its default was left
out, or written with that value.
"""

from treaty.core.column_types import SqlType
from treaty.core.schema import Pairs
from treaty.light_dataclass import dataclass
from treaty.metastore.sql.values import ColumnCondition, ComparedRange, HeadColumn, OrderTerm, SqlLiteral


@dataclass(frozen=True, slots=True)
class CreateSourceStatement:
    """CREATE STREAM or TABLE, and its synonyms.

    `columns` are empty where they come from a schema or from the body. `properties` have their canonical names and values, defaults set by SET
    included. `body` is the query after AS, as sent, and empty without one; `final` says that EMIT FINAL followed it, which is append mode.
    """

    kind: str
    name: str
    columns: tuple[HeadColumn, ...] = ()
    properties: Pairs = ()
    body: str = ""
    comment: str = ""
    or_replace: bool = False
    if_not_exists: bool = False
    final: bool = False

    def property(self, name: str, default: str = "") -> str:
        """Return the value of a property by its canonical name."""
        for key, value in self.properties:
            if key == name:
                return value
        return default


@dataclass(frozen=True, slots=True)
class DropSourceStatement:
    """DROP STREAM or TABLE; `digest` confirms what a dry run said that CASCADE takes along."""

    kind: str
    name: str
    if_exists: bool = False
    cascade: bool = False
    digest: str = ""
    delete_topic: bool = False


@dataclass(frozen=True, slots=True)
class UndropStatement:
    """UNDROP: the newest dropped source of a name comes back."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class CreateTypeStatement:
    """CREATE TYPE; `label` is the project that the type belongs to."""

    name: str
    type: SqlType
    if_not_exists: bool = False
    comment: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class DropTypeStatement:
    """DROP TYPE."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class AddColumnsStatement:
    """ALTER … ADD COLUMN, of one column or several."""

    kind: str
    name: str
    columns: tuple[HeadColumn, ...]


@dataclass(frozen=True, slots=True)
class RenameStatement:
    """ALTER … RENAME TO."""

    kind: str
    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class SetPropertiesStatement:
    """ALTER … SET (property = value, …); canonical names and values."""

    kind: str
    name: str
    properties: Pairs


@dataclass(frozen=True, slots=True)
class ProtectStatement:
    """ALTER … SET PROTECTED = true or false."""

    kind: str
    name: str
    protect: bool


@dataclass(frozen=True, slots=True)
class CommentStatement:
    """ALTER … SET COMMENT = 'text'; an empty text removes the comment."""

    kind: str
    name: str
    comment: str


@dataclass(frozen=True, slots=True)
class RefreshSchemaStatement:
    """ALTER … REFRESH SCHEMA: the columns of the newest version of the subject."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class RefreshTypeStatement:
    """ALTER … REFRESH TYPE name: the present definition of a user type that the source uses."""

    kind: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class SwapStatement:
    """ALTER … SWAP WITH: two sources exchange their names."""

    kind: str
    name: str
    other: str


@dataclass(frozen=True, slots=True)
class PauseStatement:
    """PAUSE: the query of a source stops and keeps its checkpoint."""

    name: str


@dataclass(frozen=True, slots=True)
class ResumeStatement:
    """RESUME: the query of a source continues."""

    name: str


@dataclass(frozen=True, slots=True)
class RestartStatement:
    """Another checkpoint of a query; `way` is ROLLBACK, RESET (CHECKPOINT … KEEP DATA) or REFRESH (FULL). With `cascade` what follows goes along."""

    way: str
    name: str
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class OnceStatement:
    """INSERT INTO ONCE: a query that is run once into a source which another one fills; `body` as in CREATE … AS."""

    name: str
    body: str


@dataclass(frozen=True, slots=True)
class ShowStatement:
    """SHOW or LIST. `listing` is one of `SHOWN`; `of` belongs to DEPENDENCIES and HISTORY, `recursive` to DEPENDENCIES."""

    listing: str
    extended: bool = False
    of: str = ""
    recursive: bool = False


SHOWN = (
    "STREAMS",
    "TABLES",
    "TYPES",
    "QUERIES",
    "SUBJECTS",
    "TOPICS",
    "DROPPED",
    "PROPERTIES",
    "DEPENDENCIES",
    "HISTORY",
)
"""What SHOW and LIST take."""


@dataclass(frozen=True, slots=True)
class ShowCreateStatement:
    """SHOW CREATE of a STREAM, TABLE or TYPE (`kind`, or empty): the statement that creates it."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class DescribeStatement:
    """DESCRIBE of a source, or of a type where `kind` is TYPE."""

    kind: str
    name: str
    extended: bool = False


@dataclass(frozen=True, slots=True)
class ExplainStatement:
    """EXPLAIN of a source by its name, of a CREATE, or of a query (`body`, as sent): one of the three is there."""

    name: str = ""
    statement: CreateSourceStatement | None = None
    body: str = ""
    final: bool = False
    """Whether EMIT FINAL followed the query."""
    compare: ComparedRange | None = None
    """Over what the results of the old and the new query are compared; None: they are not."""


@dataclass(frozen=True, slots=True)
class SelectStatement:
    """SELECT from the system table ``treaty.{table}``; `columns` are empty for ``*``, `limit` is -1 without one."""

    table: str
    columns: tuple[str, ...] = ()
    conditions: tuple[ColumnCondition, ...] = ()
    order: tuple[OrderTerm, ...] = ()
    limit: int = -1


@dataclass(frozen=True, slots=True)
class SelectRecordsStatement:
    """SELECT … FROM STREAM name: records of a source as they are; `columns` are empty for ``*``, `limit` is how many at most."""

    name: str
    columns: tuple[str, ...]
    conditions: tuple[ColumnCondition, ...]
    limit: int


@dataclass(frozen=True, slots=True)
class SelectRowsStatement:
    """SELECT … FROM TABLE name: rows of a Delta table as of one committed version.

    `columns` are empty for ``*``; `version` is -1, and `time` empty, for the newest one; `limit` is how many rows at most, -1 without one.
    """

    name: str
    columns: tuple[str, ...] = ()
    conditions: tuple[ColumnCondition, ...] = ()
    version: int = -1
    time: str = ""
    limit: int = -1


SYSTEM_TABLES = ("sources", "types", "queries", "dependencies", "subjects", "versions")
"""Tables of the schema ``treaty``."""
ASSERT_TIMEOUT = 1_000
"""Milliseconds that ASSERT waits where it says no TIMEOUT."""


@dataclass(frozen=True, slots=True)
class PrintStatement:
    """PRINT: records of a source or topic; every `interval`-th, at most `limit` (-1: no limit)."""

    name: str
    from_beginning: bool = False
    interval: int = 1
    limit: int = -1


@dataclass(frozen=True, slots=True)
class AssertSchemaStatement:
    """ASSERT [NOT EXISTS] SCHEMA: of a subject, with an id (0: any), within milliseconds."""

    subject: str = ""
    schema_id: int = 0
    exists: bool = True
    timeout: int = ASSERT_TIMEOUT


@dataclass(frozen=True, slots=True)
class AssertTopicStatement:
    """ASSERT [NOT EXISTS] TOPIC, with its partitions and replicas (0: any number), within milliseconds."""

    topic: str
    partitions: int = 0
    replicas: int = 0
    exists: bool = True
    timeout: int = ASSERT_TIMEOUT


@dataclass(frozen=True, slots=True)
class InsertStatement:
    """INSERT INTO … VALUES; `columns` are empty for all columns in their order, `delete` says AS DELETE: a null value is a tombstone."""

    name: str
    rows: tuple[tuple[SqlLiteral, ...], ...]
    columns: tuple[str, ...] = ()
    delete: bool = False


@dataclass(frozen=True, slots=True)
class UpdateStatement:
    """UPDATE … SET column = value, … WHERE key = value AND …."""

    name: str
    values: tuple[tuple[str, SqlLiteral], ...]
    conditions: tuple[ColumnCondition, ...]


@dataclass(frozen=True, slots=True)
class DeleteStatement:
    """DELETE FROM … WHERE key = value AND …."""

    name: str
    conditions: tuple[ColumnCondition, ...]


@dataclass(frozen=True, slots=True)
class DefineStatement:
    """DEFINE name = 'value': ``${name}`` stands for it in what follows in the script."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class UndefineStatement:
    """UNDEFINE name."""

    name: str


@dataclass(frozen=True, slots=True)
class SetStatement:
    """SET: a default of a property for the CREATE statements that follow in the script, with its canonical name and value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class UnsetStatement:
    """UNSET: the default of a property ends."""

    name: str


SqlStatement = (
    CreateSourceStatement
    | DropSourceStatement
    | UndropStatement
    | CreateTypeStatement
    | DropTypeStatement
    | AddColumnsStatement
    | RenameStatement
    | SetPropertiesStatement
    | ProtectStatement
    | CommentStatement
    | RefreshSchemaStatement
    | RefreshTypeStatement
    | SwapStatement
    | PauseStatement
    | ResumeStatement
    | RestartStatement
    | OnceStatement
    | ShowStatement
    | ShowCreateStatement
    | DescribeStatement
    | ExplainStatement
    | SelectStatement
    | SelectRecordsStatement
    | SelectRowsStatement
    | PrintStatement
    | AssertSchemaStatement
    | AssertTopicStatement
    | InsertStatement
    | UpdateStatement
    | DeleteStatement
    | DefineStatement
    | UndefineStatement
    | SetStatement
    | UnsetStatement
)
