"""Treaty's own answers about Avro schemas, in the oracle's words; and the differences that are meant."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.avro.compatibility import compare
from treaty.formats.avro.format import FORMAT
from treaty.formats.avro.model import AvroSchema
from treaty.formats.avro.parser import parse_schema
from treaty.formats.format import InvalidSchemaError

CASES = Path(__file__).parents[1] / "cases" / "avro"


def meaning(text: str, references: Sequence[str] = ()) -> ResolvedSchema:
    """A text with the texts that it may use."""
    bindings = (
        ResolvedReference(f"ref{at}", f"subject{at}", 1, ResolvedSchema("AVRO", one))
        for at, one in enumerate(references)
    )
    return ResolvedSchema("AVRO", text, tuple(bindings))


def model(text: str, references: Sequence[str] = ()) -> AvroSchema:
    """The model of a text, read strictly."""
    return parse_schema(meaning(text, references), strict=True)


def described(text: str, references: Sequence[str] = ()) -> dict[str, Any]:
    """What the oracle says about a text, said by Treaty."""
    try:
        schema = model(text, references)
    except InvalidSchemaError as wrong:
        return {"valid": False, "error": str(wrong)}
    shown = FORMAT.show(schema, False)
    texts = {"canonical": shown.canonical, "resolved": shown.resolved, "parsing": FORMAT.views["parsing"](schema)}
    return {"valid": True, **texts, **{name: made(schema).hex() for name, made in FORMAT.fingerprints.items()}}


def found(reader: str, writer: str) -> list[dict[str, str]]:
    """The findings of a comparison in the oracle's words."""
    findings = compare(model(reader), model(writer))
    return [{"type": one.rule, "path": one.path, "detail": one.detail} for one in findings]


def unlike(java: Mapping[str, Any], treaty: Mapping[str, Any]) -> list[str]:
    """The members in which two descriptions differ."""
    return sorted(name for name in {*java, *treaty} - {"error"} if java.get(name) != treaty.get(name))


def _half_surrogate(java: Mapping[str, Any], treaty: Mapping[str, Any]) -> bool:
    return bool(java["valid"]) and "surrogate" in treaty.get("error", "")


def _double(java: Mapping[str, Any], treaty: Mapping[str, Any]) -> bool:
    both = java["valid"] and treaty["valid"]
    return bool(both) and described(java["canonical"])["canonical"] == treaty["canonical"]


def _cycle(java: Mapping[str, Any], treaty: Mapping[str, Any]) -> bool:
    return bool(treaty["valid"]) and "fields not set yet" in java.get("error", "")


HALF_SURROGATE = """\
Java keeps half of a surrogate pair in its strings and writes a question mark when it encodes them. A text that changes
on the way to storage has no stable identity, so Treaty refuses it."""

DOUBLE_BEFORE_JDK_19 = """\
Double.toString of JDK 17 and older does not always find the shortest digits (JDK-4511638); Treaty prints as JDK 19 and
later do. Both texts stand for the same number."""

DEFAULT_IN_CYCLE = """\
Java copies types that refer to each other one after the other and then fails to check a default against the one that is
not finished (AvroRuntimeException: Schema fields not set yet). Treaty checks the default."""

DIFFERENCES: Mapping[str, tuple[str, Callable[[Mapping[str, Any], Mapping[str, Any]], bool]]] = {
    "HALF_SURROGATE": (HALF_SURROGATE, _half_surrogate),
    "DOUBLE_BEFORE_JDK_19": (DOUBLE_BEFORE_JDK_19, _double),
    "DEFAULT_IN_CYCLE": (DEFAULT_IN_CYCLE, _cycle),
}
"""Differences that are meant: the reference's rule beside ours, and how to recognise one."""


def excused(java: Mapping[str, Any], treaty: Mapping[str, Any]) -> str | None:
    """The class of difference that explains two unlike descriptions, or None."""
    return next((name for name, (_, fits) in DIFFERENCES.items() if fits(java, treaty)), None)


def hand_made() -> list[tuple[str, dict[str, Any]]]:
    """All hand-made schemas with their names: each has ``schema`` or ``text``, and what Treaty says of it."""
    files = sorted((CASES / "validity").glob("*.json"))
    return [(f"{file.stem}: {row['case']}", row) for file in files for row in json.loads(file.read_text("utf-8"))]


def text_of(row: Mapping[str, Any]) -> str:
    """The schema text of a hand-made case."""
    return row["text"] if "text" in row else json.dumps(row["schema"], ensure_ascii=False)
