"""Is a value valid: the judgement of the validator library over the schema's own texts, and never over others."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import jsonschema_rs

from treaty.core.finding import Fault
from treaty.core.limits import FAULTS, VALUE_BYTES
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.bundle import parts
from treaty.formats.jsonschema.model import Document, Draft, Json
from treaty.formats.jsonschema.regex import ENGINES
from treaty.formats.place import escaped, positions
from treaty.formats.text import read_exact

_CLASSES: dict[int, Any] = {
    4: jsonschema_rs.Draft4Validator,
    6: jsonschema_rs.Draft6Validator,
    7: jsonschema_rs.Draft7Validator,
    2019: jsonschema_rs.Draft201909Validator,
    2020: jsonschema_rs.Draft202012Validator,
}
_kept: WeakKeyDictionary[Document, Any] = WeakKeyDictionary()


def validator(document: Document) -> Any:
    """The compiled validator of a schema, made once for each; raises `ValueError` if it can't be made.

    Formats are not asserted. Regular expressions run in linear time; those with looks around and backward references
    run with a bound on their steps.
    """
    found = _kept.get(document)
    if found is None:
        found = _kept[document] = _compiled(document)
    return found


def _compiled(document: Document) -> Any:
    own, others = parts(document)
    draft: Draft = document.root.draft
    registry = jsonschema_rs.Registry(list(others.items()))
    wrong: Exception | None = None
    for engine in ENGINES:
        try:
            return _CLASSES[draft.number](
                own,
                offline=True,
                validate_formats=False,
                pattern_options=engine,
                **({"registry": registry} if others else {}),
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            wrong = error
    raise ValueError(str(wrong).partition("\n")[0][:200])


def valid(document: Document, value: Json) -> bool:
    """Whether a value, nested no deeper than a text may be, is valid; raises `ValueError` as `validator` does."""
    return bool(validator(document).is_valid(value))


def check(document: Document, text: str) -> tuple[Fault, ...]:
    """The faults of a value given as JSON text, each with its place in the text; empty if it is valid."""
    if len(text) * 4 > VALUE_BYTES and (size := len(text.encode("utf-8", "surrogatepass"))) > VALUE_BYTES:
        message = f"the value has {size} bytes, more than the limit VALUE_BYTES of {VALUE_BYTES}"
        return (Fault("VALUE_TOO_LARGE", "", message, f"at most {VALUE_BYTES} bytes"),)
    try:
        value = read_exact(text, VALUE_BYTES)
    except InvalidSchemaError as wrong:
        return tuple(replace(one, rule=one.rule.replace("SCHEMA_", "VALUE_")) for one in wrong.faults)
    try:
        judge = validator(document)
    except ValueError as wrong:
        message = f"values can't be judged by this schema: {wrong}"
        return (Fault("VALUE_NOT_JUDGED", "", message, "a schema that the validator can compile"),)
    if judge.is_valid(value):
        return ()
    faults = list(islice(_faults(judge, value), FAULTS))
    places = positions(text, {one.path for one in faults})
    return tuple(replace(one, line=places[one.path][0], column=places[one.path][1]) for one in faults)


def _faults(judge: Any, value: Json) -> Iterator[Fault]:
    for error in judge.iter_errors(value):
        word = error.kind.name
        rule = "".join(f"_{char}" if char.isupper() else char for char in word).upper().lstrip("$_")
        path = "".join(f"/{escaped(str(step))}" for step in error.instance_path)
        asked = "".join(f"/{escaped(str(step))}" for step in error.schema_path)
        yield Fault(rule or "FALSE", path, _short(error.message), f"what the schema asks for at {asked or '/'}")


def _short(message: str) -> str:
    return message if len(message) <= 200 else f"{message[:120]} … {message[-79:]}"
