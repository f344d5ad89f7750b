"""A whole Protobuf file is parsed: syntax or edition, package, imports, options and definitions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from treaty.core.limits import SCHEMA_NAMES
from treaty.formats.protobuf.model import (
    Enum,
    ExtendStatement,
    ImportStatement,
    Message,
    ProtoFile,
    ProtoOption,
    RpcService,
)
from treaty.formats.protobuf.syntax.cursor import TokenCursor
from treaty.formats.protobuf.syntax.messages import COMMON, add_visible
from treaty.formats.protobuf.syntax.services import read_service

SYNTAXES = ("proto2", "proto3")
"""What a syntax statement may say."""
PACKAGE = 511
"""Characters of a package, as in protoc."""
PACKAGE_POINTS = 100
"""Points in a package, as in protoc."""
EDITIONS = ("2023", "2024")
"""What an edition statement may say."""


@dataclass(slots=True)
class _Body:
    """What has been read of a file so far."""

    package: str = ""
    imports: list[ImportStatement] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    extends: list[ExtendStatement] = field(default_factory=list)
    services: list[RpcService] = field(default_factory=list)
    options: list[ProtoOption] = field(default_factory=list)


def parse_file(text: str) -> ProtoFile:
    """The model of a text; nothing is looked up yet. Raises `InvalidSchemaError` with the first fault."""
    cursor = TokenCursor(text)
    syntax, edition = _dialect(cursor)
    body = _Body()
    names = 0
    while word := cursor.tokens[cursor.at]:
        statement = _STATEMENTS.get(word)
        if statement is None:
            raise cursor.unexpected_token("message, enum, service, extend, import, package or option")
        cursor.at += 1
        statement(cursor, body)
        names += 1
        if names > SCHEMA_NAMES:
            limit = f"more statements than the limit SCHEMA_NAMES of {SCHEMA_NAMES}"
            raise cursor.fault("TOO_MANY", limit, f"at most {SCHEMA_NAMES} in one file")
    return ProtoFile(
        syntax,
        edition,
        body.package,
        tuple(body.imports),
        tuple(body.options),
        tuple(body.messages),
        tuple(body.enums),
        tuple(body.extends),
        tuple(body.services),
    )


def parse_imports(text: str) -> tuple[ImportStatement, ...]:
    """The import statements of a text that may hold other faults: those up to the first one."""
    body = _Body()
    cursor = TokenCursor(text)
    _dialect(cursor)
    while word := cursor.tokens[cursor.at]:
        cursor.at += 1
        if word == "import":
            _import(cursor, body)
        else:
            _skip(cursor, word)
    return tuple(body.imports)


def _skip(cursor: TokenCursor, word: str) -> None:
    """Step over the rest of a statement."""
    depth = 0
    while word:
        if word == "{":
            depth += 1
        elif word == "}":
            depth -= 1
        if depth <= 0 and word in (";", "}"):
            return
        word = cursor.tokens[cursor.at]
        if word:
            cursor.at += 1


def _dialect(cursor: TokenCursor) -> tuple[str, str]:
    """The statement with which a file begins, if it does: syntax and edition, one of them empty."""
    word = cursor.tokens[cursor.at]
    if word not in ("syntax", "edition"):
        return "", ""
    cursor.at += 1
    cursor.expect("=")
    at = cursor.at
    dialect = cursor.string("a string").decode("utf-8", "replace")
    cursor.expect(";")
    dialects = SYNTAXES if word == "syntax" else EDITIONS
    if dialect not in dialects:
        raise cursor.fault("SYNTAX_UNKNOWN", f"the {word} {dialect[:40]!r}", " or ".join(dialects), at)
    cursor.dialect = dialect
    return (dialect, "") if word == "syntax" else ("", dialect)


def _import(cursor: TokenCursor, body: _Body) -> None:
    begin = cursor.at - 1
    kind = cursor.tokens[cursor.at]
    if kind not in ("public", "weak", "option"):
        kind = ""
    else:
        late = cursor.editions and cursor.dialect >= "2024"
        if (kind == "option") != late and kind != "public":
            other = "import option" if late else "import, import public or import weak"
            raise cursor.unexpected_token(f"{other} in {cursor.dialect}")
        cursor.at += 1
    at = cursor.at
    try:
        path = cursor.string("the path of a file in quotes").decode()
    except UnicodeDecodeError:
        raise cursor.fault("STRING_INVALID", "a path that is no UTF-8", "a path", at) from None
    cursor.expect(";")
    body.imports.append(ImportStatement(path, kind, cursor.place(begin)))


def _package(cursor: TokenCursor, body: _Body) -> None:
    if body.package:
        raise cursor.fault("PACKAGE_TWICE", "a second package", "one package statement", cursor.at - 1)
    begin = cursor.at
    if cursor.tokens[begin] == ".":
        raise cursor.unexpected_token("the name of a package")
    package = cursor.dotted_name("the name of a package")
    cursor.expect(";")
    if len(package) > PACKAGE or package.count(".") > PACKAGE_POINTS:
        message = f"a package of {len(package)} characters and {package.count('.')} points"
        raise cursor.fault("PACKAGE_TOO_LONG", message, f"at most {PACKAGE} and {PACKAGE_POINTS}", begin)
    body.package = package


def _add_visible(cursor: TokenCursor, body: _Body) -> None:
    if not (cursor.editions and cursor.dialect >= "2024"):
        cursor.at -= 1
        raise cursor.unexpected_token("a definition: export and local come with edition 2024")
    add_visible(cursor, body)


def _add_service(cursor: TokenCursor, body: _Body) -> None:
    body.services.append(read_service(cursor, cursor.at - 1))


_STATEMENTS: Mapping[str, Callable[[TokenCursor, _Body], None]] = {
    **COMMON,
    "service": _add_service,
    "import": _import,
    "package": _package,
    "export": _add_visible,
    "local": _add_visible,
}
