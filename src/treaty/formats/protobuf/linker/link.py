"""A Protobuf file and what it imports are linked, each file once, the imported ones first; imports in a cycle (`IMPORT_CYCLE`) and too many
references are refused.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from treaty.core.finding import Diagnostic
from treaty.core.limits import REFERENCE_DEPTH, REFERENCES
from treaty.core.schema_engine import ResolvedReference
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.linker.diagnostics import EXPECTED, DiagnosticList
from treaty.formats.protobuf.linker.symbols import collect_symbols
from treaty.formats.protobuf.model import NOWHERE, ImportStatement, ProtoFile, ProtoSchema, ProtoSymbol, SourceLocation
from treaty.formats.protobuf.well_known import PATHS, load_file

DESCRIPTOR = "google/protobuf/descriptor.proto"
"""The file that defines what options there are."""
_ROOTS = frozenset(("google", "confluent", "pb"))


def link_file(
    file: ProtoFile, texts: Mapping[str, ResolvedReference], read: Callable[[str], ProtoFile], faults: DiagnosticList
) -> ProtoSchema:
    """The linked form of a file. `texts` are its references by import path, `read` makes a model of one.

    Faults of imports go to `faults`; those of a reference itself are raised. Known files come from their packages.
    """
    linker = _Linker(texts, read)
    paths = [one.path for one in _check_imports(file.imports, faults)]
    linked = {path: schema for path in paths if (schema := linker.schema(path, faults, file.imports)) is not None}
    return linker.finish(file, "", linked, faults)


@lru_cache(maxsize=len(PATHS))
def get_known_schema(path: str) -> ProtoSchema | None:
    """A known file, linked; made once."""
    file = load_file(path)
    if file is None:
        return None
    linked = {one.path: schema for one in file.imports if (schema := get_known_schema(one.path)) is not None}
    return _build_schema(file, path, linked, collect_symbols(file, path, None))


def collect_references(bindings: Iterable[ResolvedReference], *, strict: bool) -> dict[str, ResolvedReference]:
    """References by path, those of references included.

    Raises `InvalidSchemaError` where two of them say different things under one path; the first one counts unless
    `strict`.
    """
    by_path: dict[str, ResolvedReference] = {}
    waiting = [(bound, 1) for bound in reversed(tuple(bindings))]
    while waiting:
        bound, depth = waiting.pop()
        other = by_path.get(bound.name)
        if other is not None:
            if strict and other.meaning.text != bound.meaning.text:
                where = f"{other.subject} {other.version} and {bound.subject} {bound.version}"
                raise _reference_error("REFERENCE_CONFLICT", f"{bound.name!r} means two texts: {where}")
            if not strict or other.meaning.digest == bound.meaning.digest:
                continue
        if depth > REFERENCE_DEPTH:
            raise _reference_error(
                "REFERENCES_TOO_DEEP", f"references deeper than the limit REFERENCE_DEPTH of {depth - 1}"
            )
        by_path[bound.name] = bound
        if len(by_path) > REFERENCES:
            raise _reference_error("TOO_MANY_REFERENCES", f"more references than the limit REFERENCES of {REFERENCES}")
        waiting += ((inner, depth + 1) for inner in reversed(bound.meaning.bindings))
    return by_path


def _reference_error(rule: str, message: str, expected: str = "") -> InvalidSchemaError:
    return InvalidSchemaError((Diagnostic(rule, "", message, expected or EXPECTED[rule]),))


def _check_imports(imports: Iterable[ImportStatement], faults: DiagnosticList) -> Iterable[ImportStatement]:
    """Import statements without repetitions."""
    paths: set[str] = set()
    late = NOWHERE
    for statement in imports:
        if statement.path in paths:
            faults.add("IMPORT_TWICE", statement.path, f"{statement.path!r} is imported twice", statement.place)
            continue
        if statement.kind == "option":
            late = statement.place
        elif late is not NOWHERE:
            faults.add(
                "IMPORT_ORDER",
                statement.path,
                f"{statement.path!r} is imported after an import option",
                statement.place,
            )
        paths.add(statement.path)
        yield statement


class _Linker:
    """Links every file that one schema needs."""

    def __init__(self, texts: Mapping[str, ResolvedReference], read: Callable[[str], ProtoFile]) -> None:
        self.texts = texts
        self.read = read
        self.done: dict[str, ProtoSchema] = {}
        self.pool: dict[str, ProtoSymbol] = {}

    def schema(self, path: str, faults: DiagnosticList, imports: Iterable[ImportStatement]) -> ProtoSchema | None:
        """The linked file under an import path; None, and a fault, where there is none."""
        schema = self.done.get(path) or self.find_known(path)
        if schema is not None:
            return schema
        if path not in self.texts:
            place = next((one.place for one in imports if one.path == path), NOWHERE)
            self.add_unresolved(path, faults, place)
            return None
        self.link(path)
        return self.done[path]

    def find_known(self, path: str) -> ProtoSchema | None:
        """A known file; Google's own can't be replaced, others yield to a reference."""
        if path in self.texts and not path.startswith("google/protobuf/"):
            return None
        return get_known_schema(path)

    def add_unresolved(self, path: str, faults: DiagnosticList, place: SourceLocation = NOWHERE) -> None:
        """A fault for an import that leads nowhere."""
        faults.add("IMPORT_UNRESOLVED", path, f"the import {path!r} leads nowhere", place)

    def link(self, start: str) -> None:
        """Link a reference and all that it imports, without the interpreter's stack."""
        files: dict[str, ProtoFile] = {}
        open_paths: list[str] = [start]
        while open_paths:
            path = open_paths[-1]
            if path not in files:
                files[path] = self.parse_reference(path)
            needed = [
                statement.path
                for statement in files[path].imports
                if statement.path in self.texts
                and statement.path not in self.done
                and self.find_known(statement.path) is None
            ]
            if not needed:
                self.done[path] = self.link_reference(files[path], path)
                open_paths.pop()
            elif needed[0] in open_paths:
                way = " -> ".join([*open_paths[open_paths.index(needed[0]) :], needed[0]])
                raise _reference_error("IMPORT_CYCLE", f"files import each other: {way}")
            else:
                open_paths.append(needed[0])

    def parse_reference(self, path: str) -> ProtoFile:
        """The model of a reference's text; its faults are reported as the reference's."""
        try:
            return self.read(self.texts[path].meaning.text)
        except InvalidSchemaError as error:
            first = error.faults[0]
            message = f"the reference {path!r}: {first.message}"
            raise _reference_error(first.rule, message, first.expected) from None

    def link_reference(self, file: ProtoFile, path: str) -> ProtoSchema:
        """A linked reference, all of whose imports are linked."""
        faults = DiagnosticList(EXPECTED)
        linked: dict[str, ProtoSchema] = {}
        for statement in file.imports:
            schema = self.done.get(statement.path) or self.find_known(statement.path)
            if schema is None:
                raise _reference_error(
                    "IMPORT_UNRESOLVED", f"the reference {path!r}: the import {statement.path!r} leads nowhere"
                )
            linked[statement.path] = schema
        bound = self.texts[path]
        return self.finish(file, path, linked, faults, {"subject": bound.subject, "version": str(bound.version)})

    def finish(
        self,
        file: ProtoFile,
        path: str,
        linked: dict[str, ProtoSchema],
        faults: DiagnosticList,
        own: Mapping[str, str] | None = None,
    ) -> ProtoSchema:
        """A file with its imports linked: its names, which must not be those of another file, and what it sees."""
        names = collect_symbols(file, path, faults)
        schema = _build_schema(file, path, linked, names, own)
        if self.pool or _near_known(file, names):
            self.check_unique(schema, faults)
        if path:
            faults.raise_if_any()
            self.pool.update(names)
        return schema

    def check_unique(self, schema: ProtoSchema, faults: DiagnosticList) -> None:
        """Names of this file that another one defines too, wherever the file sees it from."""
        other_symbols = [one.symbols for other, one in schema.files.items() if other in PATHS and other != schema.path]
        for table in (self.pool, *other_symbols):
            for full in schema.symbols.keys() & table.keys():
                own, other_symbol = schema.symbols[full], table[full]
                if own.kind != "package" or other_symbol.kind != "package":
                    node = own.node
                    message = f"the name {full!r} of this {own.kind} is that of a {other_symbol.kind} in {other_symbol.path!r}"
                    faults.add("NAME_DUPLICATE", full, message, NOWHERE if node is None else node.place)


def _near_known(file: ProtoFile, names: Mapping[str, ProtoSymbol]) -> bool:
    """Whether a file's names can be those of known files at all."""
    if file.package:
        return file.package.partition(".")[0] in _ROOTS
    return not _ROOTS.isdisjoint(names)


def _build_schema(
    file: ProtoFile,
    path: str,
    linked: dict[str, ProtoSchema],
    names: dict[str, ProtoSymbol],
    own: Mapping[str, str] | None = None,
) -> ProtoSchema:
    visible: dict[str, ProtoSymbol] = {}
    offered: dict[str, ProtoSymbol] = {}
    files: dict[str, ProtoSchema] = {}
    for statement in file.imports:
        imported = linked.get(statement.path)
        if imported is not None:
            (offered if statement.kind == "option" else visible).update(_list_exported(imported))
            files.update(imported.files)
    visible.update(names)
    offered = {**offered, **visible} if offered else visible
    schema = ProtoSchema(file, path, linked, names, visible, offered, files, own or {})
    files[path] = schema
    return schema


def _list_exported(schema: ProtoSchema) -> Mapping[str, ProtoSymbol]:
    """What a file shows to those that import it: its own names, and what it imports publicly."""
    public = [one.path for one in schema.file.imports if one.kind == "public"]
    if not public:
        return schema.symbols
    exported: dict[str, ProtoSymbol] = {}
    paths: set[str] = set()
    waiting = [schema]
    while waiting:
        file = waiting.pop()
        exported.update(file.symbols)
        for statement in file.file.imports:
            if statement.kind == "public" and statement.path not in paths and statement.path in file.imports:
                paths.add(statement.path)
                waiting.append(file.imports[statement.path])
    return exported
