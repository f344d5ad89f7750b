"""`FormatEngine`: answers to the questions of the handlers about schemas, within steps, by models that are remembered (`ModelCache`);
long lists of findings are shortened.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import field, replace
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeVar

from treaty.core.finding import Diagnostic, ExplainedDifference, Finding, shorten_text
from treaty.core.limits import (
    FAULT_CHARACTERS,
    FAULTS,
    FINDINGS,
    FINDINGS_CHARACTERS,
    MODEL_BYTES,
    MODEL_ENTRIES,
    PARSE_STEPS,
)
from treaty.core.policy import LINT
from treaty.core.schema import Pairs
from treaty.core.schema_engine import (
    Answer,
    CompareSchemas,
    ComparisonResult,
    DescribeDifferences,
    DescribeValidators,
    DifferencesDescribed,
    FindEntries,
    FindTags,
    InspectionResult,
    InspectSchema,
    InvalidText,
    NameVersion,
    ParsedSchema,
    ParseSchema,
    Question,
    ResolvedSchema,
    RetaggedSchema,
    RetagSchema,
    TagsFound,
    ValidateValue,
    ValidatorsDescribed,
    VersionNames,
    count_characters,
)
from treaty.formats.budget import StepBudget, StepsError, limit_steps, spend, use_budget
from treaty.formats.differences import (
    compare_both_ways,
    count_by_level,
    describe_change_of_format,
    list_differences,
    list_harmless,
    place_differences,
)
from treaty.formats.format import Format, InvalidSchemaError, SchemaElement, shorten_fault
from treaty.formats.id_schemes import IdSchemeRegistry, VersionToName, find_id_schemes
from treaty.formats.logical.tokens import is_logical
from treaty.formats.registry import FormatRegistry
from treaty.formats.tags import edit_tags, list_tags
from treaty.formats.text_layout import lay_out
from treaty.formats.validators.inspection import NoElementsError, describe_validators, run_validator
from treaty.formats.validators.registry import ValidatorRegistry, find_validators
from treaty.formats.validators.validator import ValidatedSchema
from treaty.light_dataclass import dataclass


@dataclass(slots=True)
class ModelCache:
    """The models used last, by format, digest of the meaning and strictness; the one unused for longest goes first."""

    entries: int = MODEL_ENTRIES
    text_bytes: int = MODEL_BYTES
    _models: OrderedDict[tuple[str, bytes, bool], tuple[Any, int]] = field(default_factory=OrderedDict, repr=False)
    _bytes: int = 0

    def get(self, key: tuple[str, bytes, bool]) -> Any | None:
        """The model kept under `key`, or None."""
        entry = self._models.get(key)
        if entry is None:
            return None
        self._models.move_to_end(key)
        return entry[0]

    def keep(self, key: tuple[str, bytes, bool], model: Any, size: int) -> None:
        """Keep a model that was made of `size` bytes of text; one larger than the whole bound is not kept."""
        if size > self.text_bytes or key in self._models:
            return
        self._models[key] = (model, size)
        self._bytes += size
        while len(self._models) > self.entries or self._bytes > self.text_bytes:
            _, (_, gone) = self._models.popitem(last=False)
            self._bytes -= gone

    def __len__(self) -> int:
        return len(self._models)


# -------------------------------------------------------------------------------------------------------------- answers


T = TypeVar("T", Finding, ExplainedDifference)


def _read(form: Format[Any], schema: ResolvedSchema, *, strict: bool) -> Any:
    """The model of a text, which may be one of logical types. Faults then have no places in a text that no text holds."""
    if form.from_logical is None or not is_logical(schema.text):
        return form.parse(schema, strict)
    native = ResolvedSchema(schema.format, form.from_logical(schema.text), schema.bindings)
    try:
        return form.parse(native, strict)
    except InvalidSchemaError as error:
        raise InvalidSchemaError(tuple(replace(one, line=0, column=0) for one in error.faults)) from error


def _read_bounded(form: Format[Any], schema: ResolvedSchema) -> Any:
    """The model of a new text; a text that takes more steps than PARSE_STEPS is not valid."""
    try:
        with limit_steps(PARSE_STEPS, "PARSE_STEPS"):
            return _read(form, schema, strict=True)
    except StepsError as stop:
        if stop.limit != "PARSE_STEPS":
            raise
        costly = Diagnostic(
            "SCHEMA_TOO_COSTLY", "", f"reading the schema takes more than {stop.message}", "a smaller one"
        )
        raise InvalidSchemaError((costly,)) from None


@dataclass(frozen=True, slots=True)
class FormatEngine:
    """A registry of formats and a cache of parsed models; pure but for the cache."""

    formats: FormatRegistry
    cache: ModelCache = field(default_factory=ModelCache)
    validators: ValidatorRegistry = field(default_factory=find_validators)
    schemes: IdSchemeRegistry = field(default_factory=find_id_schemes)

    def model(self, schema: ResolvedSchema, *, strict: bool) -> tuple[Format[Any], Any]:
        """The format of a text and its parsed model; raises `InvalidSchemaError`."""
        form = self.formats.find(schema.format)
        if form is None:
            names = ", ".join(self.formats.names)
            unknown = Diagnostic("FORMAT_UNKNOWN", "", f"there is no format {schema.format!r} here", f"one of {names}")
            raise InvalidSchemaError((unknown,))
        digest = schema.digest
        strict_key, stored_key = (schema.format, digest, True), (schema.format, digest, False)
        model = self.cache.get(strict_key)
        if model is None and not strict:
            model = self.cache.get(stored_key)
        if model is None:
            model = _read_bounded(form, schema) if strict else _read(form, schema, strict=False)
            self.cache.keep(strict_key if strict else stored_key, model, count_characters(schema))
        return form, model

    def answer(self, question: Question, budget: StepBudget | None = None) -> Answer:
        """Answer a question; a text that is not valid is an answer too, never an exception.

        With a budget, `StepsError` is raised once that is spent: the question is too large for it.
        """
        if budget is not None:
            with use_budget(budget):
                return self.answer(question)
        try:
            match question:
                case ParseSchema():
                    return self._parse_schema(question)
                case CompareSchemas():
                    return self._compare_schemas(question)
                case DescribeDifferences():
                    return self._describe_differences(question)
                case FindEntries():
                    raise AssertionError("a search is asked of the index")
                case InspectSchema():
                    return self._inspect_schema(question)
                case DescribeValidators():
                    return self._describe_validators(question)
                case FindTags():
                    spend(count_characters(question.meaning) >> 3)
                    return TagsFound(list_tags(*self.model(question.meaning, strict=False)))
                case NameVersion():
                    return self._name_version(question)
                case ValidateValue(schema, value, depth):
                    from treaty.formats.jsonschema.data.draft4 import validate_text  # noqa: PLC0415 (the validator costs a start that needs none)

                    return validate_text(schema.text, value, depth)
                case RetagSchema(schema, add, remove, lenient):
                    form, model = self.model(schema, strict=False)
                    spend(count_characters(schema) >> 1)
                    return RetaggedSchema(edit_tags(form, model, add=add, remove=remove, lenient=lenient))
        except InvalidSchemaError as error:
            return InvalidText(error.faults)

    def _parse_schema(self, question: ParseSchema) -> ParsedSchema:
        form, model = self.model(question.meaning, strict=question.strict)
        spend(count_characters(question.meaning) >> 4)
        printed = form.show(model, question.normalize)
        resolved = hashlib.sha256((printed.same or printed.resolved).encode()).hexdigest()
        texts = (printed.canonical, resolved, printed.type_name, printed.fields, printed.type_names)
        return ParsedSchema(*texts, finding_form=form.finding_form)

    def _compare_schemas(self, question: CompareSchemas) -> ComparisonResult:
        form, reader = self.model(question.reader, strict=False)
        _, writer = self.model(question.writer, strict=False)
        return ComparisonResult(shorten_findings(form.compare(reader, writer, question.policy)))

    def _describe_differences(self, question: DescribeDifferences) -> DifferencesDescribed:
        old, new = question.old, question.new
        texts = lay_out(old.text), lay_out(new.text)
        spend((count_characters(old) + count_characters(new)) >> 2)
        if old.format != new.format:
            difference, levels = describe_change_of_format(old.format, new.format)
            return DifferencesDescribed(*texts, (difference,), levels=levels)
        (form, before), (_, after) = self.model(old, strict=False), self.model(new, strict=False)
        compared = compare_both_ways(form, before, after)
        differences = list_differences(form, before, after, compared)
        differences += list_harmless(form, before, after, differences)
        shortened = shorten_differences(sorted(differences, key=lambda one: one.harm == "none"))
        placed = place_differences(form, shortened, *texts, question.sent)
        return DifferencesDescribed(*texts, tuple(placed), len(differences) - len(shortened), count_by_level(compared))

    def _inspect_schema(self, question: InspectSchema) -> InspectionResult:
        """Run the validators, in their order; a text of a format without a plug-in has no elements and no lints."""
        form, model = None, None
        if self.formats.find(question.meaning.format) is not None:
            form, model = self.model(question.meaning, strict=False)
        new = self._make_validated(question.meaning, question.metadata, 0)
        versions = tuple(
            self._make_validated(version.meaning, version.metadata, version.number) for version in question.versions
        )
        faults: list[Diagnostic] = []
        for text in question.validators:
            spend(count_characters(question.meaning) >> 3)
            lint = text.removeprefix(LINT)
            if form is not None and lint in form.lints:
                faults += form.lints[lint].find(model)
            elif lint not in self.formats.validators():  # a lint of another format has nothing to say
                faults += run_validator(self.validators, text, new, versions)
        return InspectionResult(tuple(map(shorten_fault, faults[:FAULTS])))

    def _make_validated(self, schema: ResolvedSchema, metadata: Pairs, number: int) -> ValidatedSchema:
        def elements() -> tuple[SchemaElement, ...]:
            if self.formats.find(schema.format) is None:
                return ()
            form, model = self.model(schema, strict=False)
            spend(count_characters(schema) >> 2)
            if form.elements is None:
                message = f"the types and fields of a {form.name} schema are not known: the record of the format has no `elements`"
                raise NoElementsError(message)
            return tuple(form.elements(model))

        return ValidatedSchema(schema.format, schema.text, MappingProxyType(dict(metadata)), number, elements)

    def _describe_validators(self, question: DescribeValidators) -> ValidatorsDescribed:
        lints = self.formats.validators()
        return describe_validators(self.validators, lints, question.validators)

    def _name_version(self, question: NameVersion) -> VersionNames | InvalidText:
        meaning = question.meaning
        spend(len(question.schemes) * count_characters(meaning) >> 2)
        facts = VersionToName(question.sent, meaning.text, meaning.format, question.subject, question.type_name)
        if meaning.format in self.formats.names:
            form, model = self.model(meaning, strict=False)
            facts = replace(facts, model=model, fingerprints=form.fingerprints)
        names: list[tuple[str, str]] = []
        for scheme in question.schemes:
            name = self.schemes.compute(scheme, facts)
            if isinstance(name, InvalidText):
                return name
            if name:
                names.append((scheme, name))
        return VersionNames(tuple(names))


TEXTS = ("path", "sentence", "detail", "writer", "reader", "remedy")
"""The texts of a finding."""
TEXTS_OF_DIFFERENCE = ("path", "sentence", "detail", "old", "new", "remedy")
"""The texts of a difference."""


def shorten_findings(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Leave out the findings past FINDINGS_CHARACTERS, and of each text of one what is longer than FAULT_CHARACTERS.

    In a deep schema each finding has a long path, names have any length, and all are printed.
    """
    return _shorten(findings, TEXTS)


def shorten_differences(differences: Iterable[ExplainedDifference]) -> tuple[ExplainedDifference, ...]:
    """Leave out differences past FINDINGS and FINDINGS_CHARACTERS, and of each text what is longer than FAULT_CHARACTERS."""
    return _shorten(islice(differences, FINDINGS), TEXTS_OF_DIFFERENCE)


def _shorten(listed: Iterable[T], names: tuple[str, ...]) -> tuple[T, ...]:
    left, shortened = FINDINGS_CHARACTERS, list[T]()
    for item in listed:
        texts: dict[str, str] = {name: getattr(item, name) for name in names}
        long = {
            name: shorten_text(text, FAULT_CHARACTERS) for name, text in texts.items() if len(text) > FAULT_CHARACTERS
        }
        left -= sum(map(len, (texts | long).values()))
        if left < 0:
            break
        shortened.append(replace(item, **long) if long else item)  # type: ignore[arg-type]  # texts alone
    return tuple(shortened)
