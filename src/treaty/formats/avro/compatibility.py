"""Compatibility of a reader's schema with a writer's: the findings of Java's ``SchemaCompatibility``, in its order."""

from collections.abc import Generator, Mapping

from treaty.core.finding import Finding
from treaty.core.limits import COMPARE_STEPS, FINDINGS
from treaty.formats.avro.data.logical import LOGICAL_RULES, logical_findings
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    ResolvedType,
    simple_of,
)
from treaty.formats.avro.resolution import PROMOTIONS
from treaty.formats.avro.rules import (
    COMPARISON_TOO_LARGE,
    FIELD_MATCHES_SEVERAL,
    FIXED_SIZE_MISMATCH,
    MISSING_ENUM_SYMBOLS,
    MISSING_UNION_BRANCH,
    NAME_MISMATCH,
    READER_FIELD_MISSING_DEFAULT_VALUE,
    TYPE_MISMATCH,
)
from treaty.formats.budget import StepsError, current_budget, limit_steps
from treaty.formats.json_pointer import ValuePath, format_pointer
from treaty.formats.rule import CompatibilityRule

Findings = list[Finding]
Pair = tuple[AvroType, AvroType, ValuePath]
Task = Generator[Pair, Findings, Findings]
"""Compares one pair: yields the pairs inside it, is sent what was found there, returns what it found."""

WIDENS: Mapping[str, frozenset[str]] = {
    new: frozenset(old for old, wider in PROMOTIONS.items() if new in wider)
    for new in {wide for wider in PROMOTIONS.values() for wide in wider}
}
"""By the reader's primitive type, the other ones that it reads."""


_PAIR = 12
"""Steps that a pair of types costs beside its members."""
_LARGE_UNION = 32
"""From here on the branches of a union are not tried in their order; Java does, which only changes which of several
places is reported for a pair of types that meets again."""


_ASSUMED: Findings = []
"""What is known of a pair while it is being compared."""


class _StopError(Exception):
    """The comparison ends here with one finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.rule)
        self.finding = finding


def compare(reader: AvroSchema, writer: AvroSchema, policy: str = "STRICT") -> tuple[Finding, ...]:
    """All findings, none if `reader` can read data written with `writer`.

    Names match without their namespaces, promotions and defaults of enums count; docs and the order of fields do not,
    and logical types only under the policy ``LOGICAL``. Raises `StepsError` where the budget of who asks is spent.
    """
    try:
        with limit_steps(COMPARE_STEPS, "COMPARE_STEPS"):
            return tuple(_Comparison(reader, writer, policy == "LOGICAL").run())
    except _StopError as stop:
        return (stop.finding,)
    except StepsError as stop:
        if stop.limit != "COMPARE_STEPS":
            raise
        return (COMPARISON_TOO_LARGE.finding("/", str(COMPARE_STEPS), writer="", reader=""),)


class _Comparison:
    """One comparison. Pairs wait on a list and not on Python's stack, so that no chain of types is too long for it."""

    __slots__ = (
        "_assumed",
        "_begun",
        "_branches",
        "_budget",
        "_careful",
        "_doubtful",
        "_logical",
        "_memo",
        "_reader",
        "_writer",
        "_writer_fields",
    )

    def __init__(self, reader: AvroSchema, writer: AvroSchema, logical: bool) -> None:  # noqa: FBT001
        self._logical = logical
        self._reader = reader
        self._writer = writer
        self._memo: dict[tuple[int, int], Findings] = {}
        self._writer_fields: dict[int, dict[str, Field]] = {}
        self._branches: dict[int, Mapping[str, AvroType]] = {}
        self._budget = current_budget()
        self._begun: list[tuple[int, int]] = []
        self._assumed = 0
        self._doubtful = False
        self._careful = False

    def run(self) -> Findings:
        """Compare the two roots; a second time with care where the first found nothing and may have assumed too much."""
        findings = self._roots()
        if findings or not self._doubtful:
            return findings
        self._careful = True
        self._memo.clear()
        self._begun.clear()
        return self._roots()

    def _roots(self) -> Findings:
        waiting = [self._pair(self._reader.root, self._writer.root, None)]
        findings: Findings | None = None
        while waiting:
            try:
                pair = waiting[-1].send(findings)  # type: ignore[arg-type]
            except StopIteration as stop:
                waiting.pop()
                findings = stop.value
            else:
                waiting.append(self._pair(*pair))
                findings = None
        return findings or []

    def _pair(self, reading: AvroType, writing: AvroType, path: ValuePath) -> Task:
        """Compare two types. A pair that is being compared further out counts as compatible, which ends recursion.

        As in Java, a pair of definitions that was found wanting once is reported again with its first place.
        """
        self._budget.spend(_PAIR)
        reader = self._reader.resolve(reading)
        writer = self._writer.resolve(writing)
        if type(reader) is AvroPrimitive or type(writer) is AvroPrimitive:
            return (yield from self._calculate(reader, writer, path))
        key = (id(reader), id(writer))
        if key not in self._memo:
            self._memo[key] = _ASSUMED
            self._begun.append(key)
            self._memo[key] = (yield from self._calculate(reader, writer, path))[:FINDINGS]
        elif self._memo[key] is _ASSUMED:
            self._assumed += 1
        return self._memo[key]

    def _calculate(self, reader: ResolvedType, writer: ResolvedType, path: ValuePath) -> Task:
        match reader, writer:
            case (AvroPrimitive(), AvroPrimitive()):
                return (
                    self._compare_logical_types(reader, writer, path)
                    if _simply_reads(reader, writer)
                    else [_mismatch(reader, writer, path)]
                )
            case (AvroArray(), AvroArray()):
                return (yield reader.items, writer.items, (path, "items"))
            case (AvroMap(), AvroMap()):
                return (yield reader.values, writer.values, (path, "values"))
            case (AvroFixed(), AvroFixed()):
                return [
                    *_compare_names(reader, writer, path),
                    *_compare_sizes(reader, writer, path),
                    *self._compare_logical_types(reader, writer, path),
                ]
            case (AvroEnum(), AvroEnum()):
                self._budget.spend((len(reader.symbols) + len(writer.symbols)) >> 3)
                return [*_compare_names(reader, writer, path), *_compare_symbols(reader, writer, path)]
            case (AvroRecord(), AvroRecord()):
                findings = list(_compare_names(reader, writer, path))
                return findings + (yield from self._fields(reader, writer, (path, "fields")))
            case (AvroUnion(), AvroUnion()):
                return (yield from self._each_branch(reader, writer, path))
            case (_, AvroUnion()):
                findings = []
                for at, branch in enumerate(writer.branches):
                    findings += yield reader, branch, (path, at)
                return findings
            case (AvroUnion(), _):
                return (yield from self._some_branch(reader, writer, path))
        return [_mismatch(reader, writer, path)]

    def _compare_logical_types(
        self, reader: AvroPrimitive | AvroFixed, writer: AvroPrimitive | AvroFixed, path: ValuePath
    ) -> Findings:
        """What differs in the logical types of two leaves that Avro itself resolves."""
        return list(logical_findings(reader, writer, path)) if self._logical and reader.props and writer.props else []

    def _each_branch(self, reader: AvroUnion, writer: AvroUnion, path: ValuePath) -> Task:
        harms: Findings = []
        for at, branch in enumerate(writer.branches):
            # What is wrong inside a branch is not reported, so its place counts from the branch; of what is meant it is.
            findings = yield reader, branch, (path, at) if self._logical else None
            if _are_all_logical(findings):
                harms += findings
            elif findings:
                harms.append(_no_branch(reader, self._writer.resolve(branch), (path, at)))
        return harms

    def _some_branch(self, reader: AvroUnion, writer: ResolvedType, path: ValuePath) -> Task:
        inside = path if self._logical else None
        if len(reader.branches) > _LARGE_UNION and isinstance(writer, AvroRecord | AvroEnum | AvroFixed):
            # The branch of the writer's own name first, or two large unions would take a step for every two branches.
            named = self._branch_of_name(reader, writer.full)
            if named is not None and not (yield from self._attempt(named, writer, inside)):
                return []
        of_logical_types: Findings = []
        for branch in reader.branches:
            findings = yield from self._attempt(branch, writer, inside)
            if not findings:
                return []
            if not of_logical_types and _are_all_logical(findings):
                of_logical_types = findings
        return of_logical_types or [_no_branch(reader, writer, path)]

    def _attempt(self, branch: AvroType, writer: ResolvedType, path: ValuePath) -> Task:
        """Compare one of several branches. Java keeps what it only assumed on the way to a branch that then does not
        fit.
        """
        begun, assumed = len(self._begun), self._assumed
        findings = yield branch, writer, path
        if findings and self._assumed > assumed:
            self._doubtful = True
            if self._careful:
                for key in self._begun[begun:]:
                    if not self._memo[key]:
                        del self._memo[key]
                del self._begun[begun:]
        return findings

    def _branch_of_name(self, union: AvroUnion, full: str) -> AvroType | None:
        if id(union) not in self._branches:
            named = {
                branch.full: branch
                for branch in union.branches
                if isinstance(branch, AvroRecord | AvroEnum | AvroFixed | AvroReference)
            }
            self._branches[id(union)] = named
        return self._branches[id(union)].get(full)

    def _fields(self, reader: AvroRecord, writer: AvroRecord, path: ValuePath) -> Task:
        findings: Findings = []
        self._budget.spend((len(reader.fields) + len(writer.fields)) >> 1)
        written = self._writer_fields.setdefault(id(writer), {})
        if not written:
            written.update((field.name, field) for field in writer.fields)
        for at, field in enumerate(reader.fields):
            source = _find_aliased_field(field, written, (path, at)) if field.aliases else written.get(field.name)
            if source is not None:
                if self._logical or not _simply_reads(field.type, source.type):
                    findings += yield field.type, source.type, ((path, at), "type")
            elif field.default is ABSENT:
                own = self._reader.resolve(field.type)
                if type(own) is AvroEnum and own.default is not None:
                    # Java compares the enum with the writer's record here, which never fits.
                    findings += yield own, writer, ((path, at), "type")
                else:
                    findings.append(_no_default(field, writer, (path, at)))
        return findings


def _simply_reads(reader: AvroType, writer: AvroType) -> bool:
    """True if a primitive or a union reads primitives, which most pairs of fields are; False does not say no."""
    if type(writer) is AvroUnion:
        for branch in writer.branches:  # noqa: SIM110 - generators take twice as long, and most time goes here
            if not _simply_reads(reader, branch):
                return False
        return True
    if type(writer) is not AvroPrimitive:
        return False
    if type(reader) is AvroPrimitive:
        return reader.kind == writer.kind or writer.kind in WIDENS.get(reader.kind, ())
    if type(reader) is AvroUnion:
        for branch in reader.branches:
            if type(branch) is AvroPrimitive and (
                branch.kind == writer.kind or writer.kind in WIDENS.get(branch.kind, ())
            ):
                return True
    return False


def _find_aliased_field(field: Field, written: Mapping[str, Field], path: ValuePath) -> Field | None:
    """The one field of the writer that has the name of a reader's field or one of its aliases."""
    matches = [written[name] for name in (field.name, *field.aliases) if name in written]
    if len(matches) > 1:
        names = ", ".join(match.name for match in matches)
        raise _StopError(
            FIELD_MATCHES_SEVERAL.finding(format_pointer(path), field.name, writer=names, reader=field.name)
        )
    return matches[0] if matches else None


def _are_all_logical(findings: Findings) -> bool:
    """Whether there are findings, and all are about what values mean; under most policies there is none such."""
    return bool(findings) and all(one.rule in LOGICAL_RULES for one in findings)


def _make_finding(rule: CompatibilityRule, path: ValuePath, detail: str, reader: str, writer: str) -> Finding:
    return rule.finding(format_pointer(path) or "/", detail, writer=writer, reader=reader)


def _mismatch(reader: ResolvedType, writer: ResolvedType, path: ValuePath) -> Finding:
    words = f"reader type: {_word(reader)} not compatible with writer type: {_word(writer)}"
    return _make_finding(TYPE_MISMATCH, path, words, describe_type(reader), describe_type(writer))


def _no_branch(reader: ResolvedType, writer: ResolvedType, path: ValuePath) -> Finding:
    words = f"reader union lacking writer type: {_word(writer)}"
    return _make_finding(MISSING_UNION_BRANCH, path, words, describe_type(reader), describe_type(writer))


def _no_default(field: Field, writer: AvroRecord, path: ValuePath) -> Finding:
    return _make_finding(
        READER_FIELD_MISSING_DEFAULT_VALUE, path, field.name, field.name, f"no such field in {writer.full}"
    )


def _compare_names(reader: NamedType, writer: NamedType, path: ValuePath) -> Findings:
    if simple_of(reader.full) == simple_of(writer.full) or writer.full in _alias_names(reader):
        return []
    return [_make_finding(NAME_MISMATCH, (path, "name"), f"expected: {writer.full}", reader.full, writer.full)]


def _alias_names(reader: NamedType) -> set[str]:
    """A reader's aliases; one without a namespace on a type with one never matches, as in Java."""
    spaced = "." in reader.full
    return {alias for alias in reader.aliases if "." in alias or not spaced}


def _compare_sizes(reader: AvroFixed, writer: AvroFixed, path: ValuePath) -> Findings:
    if reader.size == writer.size:
        return []
    words = f"expected: {writer.size}, found: {reader.size}"
    return [_make_finding(FIXED_SIZE_MISMATCH, (path, "size"), words, str(reader.size), str(writer.size))]


def _compare_symbols(reader: AvroEnum, writer: AvroEnum, path: ValuePath) -> Findings:
    missing = sorted(set(writer.symbols).difference(reader.symbols))
    if not missing or reader.default is not None:
        return []
    words = f"[{', '.join(missing)}]"
    symbols = (f"[{', '.join(side.symbols)}]" for side in (reader, writer))
    return [_make_finding(MISSING_ENUM_SYMBOLS, (path, "symbols"), words, *symbols)]


def _word(node: ResolvedType) -> str:
    return node.kind.upper()


def describe_type(node: AvroType) -> str:
    """Return a type in a few words: its kind, its full name, or its first ten branches."""
    if isinstance(node, AvroRecord | AvroEnum | AvroFixed):
        return f"{node.kind} {node.full}"
    if isinstance(node, AvroReference):
        return node.full
    if isinstance(node, AvroUnion):
        text = ", ".join(map(describe_type, node.branches[:10]))
        return f"[{text}, …]" if len(node.branches) > 10 else f"[{text}]"
    return node.kind
