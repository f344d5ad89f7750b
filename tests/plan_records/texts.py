"""Plans, columns, values and refusals as lines that people read and that differ where anything of them differs."""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from treaty.core.refusals import Refusal
from treaty.core.state.columns import Column, Columns, ColumnType, Decimal, List, Map, Scalar
from treaty.plan.avro.converted_leaves import explain_overflow, list_conversions, list_places, must_be_exact
from treaty.plan.avro.envelope import nest_record
from treaty.plan.avro.limited import strip_limits, strip_to_limits, widen_decimals
from treaty.plan.avro.sealed import seal_schemas
from treaty.plan.ddl import quote_name
from treaty.plan.encoding.fit import ColumnConversion
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.errors import PlanError
from treaty.plan.format_plans import AvroFormatPlan, ProtobufFormatPlan
from treaty.plan.suspect_rows import find_suspect_rows
from treaty.plan.value import DecodePlan

LONGEST = 200
"""Characters that a line has at most, before the digest of the whole."""
PAIR = 2
SEAL = bytes((3, 5, 1, 7, 9, 1, 3, 5))
"""Eight odd bytes below 0x80."""
FLAT = str.maketrans({"\n": "⏎", "\r": "␍", "\t": "⇥"})


def shorten(line: str) -> str:
    """The line, or its beginning and a digest of the whole."""
    if len(line) <= LONGEST:
        return line
    digest = hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{line[: LONGEST - 50]}… {len(line)} characters {digest}"


def digest_text(text: str) -> str:
    """A text that nobody reads, by its length and digest."""
    return f"{len(text)} {hashlib.sha256(text.encode()).hexdigest()[:12]}" if text else "none"


def show_value(value: Any) -> str:
    """A value of any kind on one line; a map of Arrow is a list of pairs, in whatever order Protobuf's runtime has them."""
    match value:
        case None | bool():
            return json.dumps(value)
        case int():
            return str(value)
        case str():
            return json.dumps(value, ensure_ascii=False).translate(FLAT)
        case bytes():
            return f"x'{value.hex()}'"
        case Mapping():
            return f"{{{', '.join(f'{name}: {show_value(inner)}' for name, inner in value.items())}}}"
        case list():
            items = map(show_value, value)
            is_map = all(isinstance(item, tuple) and len(item) == PAIR for item in value)
            return f"[{', '.join(sorted(items) if is_map else items)}]"
        case tuple():
            return f"({', '.join(map(show_value, value))})"
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(show_value, value)))}}}"
    if is_dataclass(value) and not isinstance(value, type):
        members = ((one.name, getattr(value, one.name)) for one in fields(value))
        return f"{type(value).__name__}({', '.join(f'{name}={show_value(inner)}' for name, inner in members)})"
    return f"{type(value).__name__} {value}" if not isinstance(value, float) else repr(value)


def compact(text: str) -> str:
    """A schema's text without quotation marks, so that it is read without escapes."""
    return text.replace('"', "").translate(FLAT)


ENVELOPE = (
    ("{type:record,name:Envelope,namespace:", "{Envelope "),
    ("{name:_treaty_head,type:{type:fixed,name:Frame,namespace:treaty,size:5}}", "Head"),
    ("{name:_treaty_head,type:treaty.Frame}", "head"),
    ("{name:_treaty_tail,type:double}", "tail"),
    ("type:record,name:", "record "),
    ("logicalType:", "logical "),
    (",default:null", " =null"),
    ("name:", ""),
)
"""What the texts of each Avro plan have, and what stands for it here."""


def compact_avro(text: str) -> str:
    """The text of an Avro plan, shorter where all of them are alike."""
    short = compact(text)
    for long, word in ENVELOPE:
        short = short.replace(long, word)
    return short


def refusal_lines(error: Exception) -> Iterator[str]:
    """A refusal with all its members."""
    yield f"{type(error).__name__}: {str(error).translate(FLAT)}"
    if isinstance(error, Refusal):
        members = {one.name: getattr(error.reason, one.name) for one in fields(error.reason)}
        yield from (f"  {name}: {show_value(value)}" for name, value in members.items() if value and name != "message")
    elif isinstance(error, PlanError):
        yield from (f"  id {one.schema_id} {one.code}: {one.message}" for one in error.rejected)
    for name in ("path", "option", "diagnostics", "findings", "count"):
        if value := getattr(error, name, None):
            yield f"  {name}: {show_value(value)}"


def show_type(kind: ColumnType) -> str:
    """A column type with what must not be null and with docs."""
    match kind:
        case Scalar(name):
            return name
        case Decimal(precision, scale):
            return f"decimal({precision}, {scale})"
        case List(element, nullable):
            return f"[{show_type(element)}{'' if nullable else '!'}]"
        case Map(key, value, nullable):
            return f"{{{show_type(key)}: {show_type(value)}{'' if nullable else '!'}}}"
    return f"({', '.join(map(show_column, kind.columns))})"


def show_column(column: Column) -> str:
    """A column with its type."""
    doc = f" -- {column.doc.translate(FLAT)}" if column.doc else ""
    return f"{column.name} {show_type(column.type)}{'' if column.nullable else '!'}{doc}"


def columns_lines(derived: Columns) -> Iterator[str]:
    """Columns of a schema and what they do not keep."""
    yield f"columns{' of the whole value' if derived.whole else ''}: {', '.join(map(show_column, derived.columns))}"
    yield from (f"  loses {show_value(loss)}" for loss in derived.losses)


def decode_plan_lines(plan: DecodePlan, texts: Mapping[int, str]) -> Iterator[str]:
    """A decode plan: what it says to people, then everything of its stored form that this does not say."""
    yield from plan.explain().split("\n")
    assert DecodePlan.from_json(plan.to_json()) == plan, "the stored form is read as another plan"
    yield from named_lines(plan, ("engine", "depth", "case_sensitive"), {"depth": 3, "case_sensitive": True})
    yield (
        f"type: {compact(plan.type)}" if not plan.columns else f"type of {len(plan.columns)}: {digest_text(plan.type)}"
    )
    yield f"reader: {compact(plan.reader)}"
    for writer in plan.writers:
        if compact(writer.text) != compact(texts.get(writer.schema_id, "")).replace(": ", ":").replace(", ", ","):
            yield f"writer {writer.schema_id}: {compact(writer.text)}"
    yield from members_lines("framing", asdict(plan.framing), {"name": "prefix"})
    yield from (f"doc {'/'.join(path)}: {doc}" for path, doc in plan.docs)
    if plan.types:
        yield f"types: {show_value(plan.types)}"
    yield from _recipe_lines(plan)
    yield f"known: {show_value(plan.known)} schemas {show_value(plan.known_schemas)} keys {show_value(plan.known_keys)}"
    for suspect in find_suspect_rows(plan):
        yield f"suspect {suspect.ids} bad={suspect.bad}: {suspect.sentence}"
        yield f"  {suspect.print_query('t', 'id')}"


def _recipe_lines(plan: DecodePlan) -> Iterator[str]:
    """What only the format of a plan needs."""
    members = {one.name: getattr(plan.recipe, one.name) for one in fields(plan.recipe)}
    if isinstance(plan.recipe, ProtobufFormatPlan):
        yield from _file_lines(plan.recipe.files)
        del members["files"]
    if isinstance(plan.recipe, AvroFormatPlan):
        for name in ("writer_text", "reader_text"):
            yield f"{name}: {compact_avro(members.pop(name))}"
        usual = {"tail": "_treaty_tail", "lossy": "refuse", "branches": tuple(range(len(plan.writers)))}
        yield from members_lines("recipe", members, usual)
        yield from _spark_lines(plan.recipe)
        return
    yield from members_lines("recipe", members, {})
    choices = plan.recipe.choices(dict(plan.columns))
    yield f"choices: {show_value(choices)}"


def _spark_lines(recipe: AvroFormatPlan) -> Iterator[str]:
    """What Spark is given beside the texts of a plan, and what is looked for in its rows."""
    if bare := strip_limits(recipe.reader_text):
        yield f"without limits: {compact_avro(bare)}"
        yield f"to limits: {compact_avro(strip_to_limits(recipe.reader_text, recipe.tail))}"
    if (wide := widen_decimals(recipe.reader_text)) != recipe.reader_text:
        yield f"wide: {compact_avro(wide)}"
    nested, sealed = nest_record(recipe), seal_schemas(recipe, SEAL)
    yield f"nested: {nested.whole} {digest_text(nested.writer_text)} {digest_text(nested.reader_text)}"
    if sealed is not None:
        writer, reader, *others = (getattr(sealed, one.name) for one in fields(sealed))
        yield f"sealed: {digest_text(writer)} {digest_text(reader)} {show_value(others)}"
    conversions, places = list_conversions(recipe), list_places(recipe)
    for repair in recipe.repairs:
        for leaf in conversions.get(repair, ()):
            flags = (leaf.multiplies, leaf.divides, must_be_exact(recipe, leaf))
            yield f"converts {repair.hidden}: {show_value(leaf)} {flags}"
        yield f"places {repair.hidden}: {show_value(places.get(repair, {}))}"
    if recipe.repairs:
        yield f"overflow: {explain_overflow(recipe)}"


def _file_lines(files: Iterable[str]) -> Iterator[str]:
    """Descriptors of files, by name."""
    for text in files:
        file = FileDescriptorProto.FromString(base64.b64decode(text))
        yield f"file {file.name or 'without a name'}: {digest_text(text)}"


def members_lines(title: str, members: Mapping[str, Any], usual: Mapping[str, Any]) -> Iterator[str]:
    """Members of a value that are not empty and not as usual."""
    for name, value in members.items():
        if value != usual.get(name, value if value in ((), "", None, False, {}) else None):
            yield f"{title} {name}: {show_value(value)}"


def named_lines(value: object, names: Sequence[str], usual: Mapping[str, Any]) -> Iterator[str]:
    """Some members by name, those that are not as usual."""
    for name in names:
        if (member := getattr(value, name)) != usual.get(name):
            yield f"{name}: {show_value(member)}"


def encode_plan_lines(plan: EncodePlan, text: str = "") -> Iterator[str]:
    """An encode plan: what it says to people, then every place with its conversion."""
    yield from plan.explain().split("\n")
    assert EncodePlan.from_json(plan.to_json()) == plan, "the stored form is read as another plan"
    yield f"head: {plan.head} part {plan.part} properties {show_value(plan.properties)} clean {show_value(plan.fit.clean)}"
    if compact(plan.text) != compact(text).replace(": ", ":").replace(", ", ","):
        yield f"text: {compact(plan.text)}"
    yield from _file_lines(plan.files)
    if plan.recipe:
        yield f"recipe: {show_value(plan.recipe)}"
    yield from conversion_lines(plan.fit, "", "", 0)


def conversion_lines(fit: ColumnConversion, name: str, source: str, level: int) -> Iterator[str]:
    """A place and all inside it; a type is written where another goes in."""
    flags = "".join(mark for mark, is_set in (("!", fit.required), ("=", fit.same), ("~", fit.clean)) if is_set)
    kinds = fit.type if fit.have in {"", fit.type} else f"{fit.have} -> {fit.type}"
    checks = "".join(f" {one.name}{show_value(one.args) if one.args else ''}" for one in fit.checks)
    named = f"{quote_name(name)}{f' from {source}' if source != name else ''} " if name else ""
    constant = f" {fit.constant}" if fit.constant else ""
    yield f"{'  ' * level}{named}{fit.path or '/'} {fit.way}{constant}{flags} {kinds if level else '…'}{checks}"
    for part in fit.parts:
        yield from conversion_lines(part.fit, part.name, part.source, level + 1)
