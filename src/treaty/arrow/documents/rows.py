"""JSON row by row, to the values that Spark's `from_json` makes of the same text, and to a bad row where it makes none."""

import json
from decimal import Decimal
from typing import Any

from treaty.arrow.decoded import NOTHING, Row, Told
from treaty.arrow.documents.rest import rest_of
from treaty.arrow.documents.validity import checker
from treaty.arrow.documents.values import Pairs, WrongKindError, number, shape_of
from treaty.plan.avro.weaving import header
from treaty.plan.ddl import type_of
from treaty.plan.recipes import JsonKind, JsonRecipe
from treaty.plan.value import DecodePlan

SAID = "the payload is no JSON, or a value in it is not of its column's type"


def reader_of(plan: DecodePlan) -> Row:
    """A function from a frame to its record as Arrow takes it, or to why there is none."""
    recipe = plan.recipe
    assert isinstance(recipe, JsonRecipe)
    ids = tuple(one.schema_id for one in plan.writers)
    kinds = recipe.kinds or (JsonKind("", plan.type, ids, recipe.whole),)
    check = checker(recipe) if recipe.checks else None
    known = {
        header(number): (shape_of(type_of(one.type), without=recipe.rest), one) for one in kinds for number in one.ids
    }
    columns = frozenset(name for name, _ in plan.columns if name != recipe.rest)
    parse = json.JSONDecoder(
        object_pairs_hook=Pairs, parse_float=number if recipe.rest else Decimal, parse_constant=_constant
    ).decode

    def read(value: bytes | None) -> Told:
        found = known.get(value[:5]) if value is not None else None
        if value is None or found is None:
            return NOTHING
        shape, kind = found
        try:
            made = parse(value[5:].decode())
            record: Any = None if made is None else shape(made)
        except (WrongKindError, ValueError, ArithmeticError, RecursionError):
            return None, "MALFORMED", SAID
        if record is None and not kind.whole:
            return None, "MALFORMED", SAID
        if check is not None and (wrong := check(value)) is not None:
            return None, "INVALID", wrong
        if recipe.rest:
            record[recipe.rest] = rest_of(made, columns)
        return ({kind.column: record} if kind.column else record), None, None

    return read


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")
