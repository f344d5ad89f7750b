"""Random histories of a schema: whatever the versions, the woven plan reads each as fastavro resolves it by itself."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.default_histories import default_history
from tests.frames import resolved
from tests.histories import history, long_history
from tests.shapes import shape_of
from treaty.arrow.avro.program import compile_reader
from treaty.arrow.avro.rows import make_decoder
from treaty.core.names import DEFAULT_CONTEXT
from treaty.formats.avro.model import ABSENT, AvroRecord, AvroUnion
from treaty.formats.avro.resolution import AvroSide
from treaty.plan.avro import planner
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.java_defaults import is_made_alike
from treaty.plan.avro.merge import merge
from treaty.plan.avro.planner import compose
from treaty.plan.format_plans import AvroFormatPlan, FieldDefault
from treaty.plan.registered_schema import RegisteredSchema
from treaty.spark.engines.wrapped_fields import INSIDE, wrap_fields

HISTORIES = 150


def loosened(value: Any) -> Any:
    """Arrow takes a map as a list of pairs; here it is a dictionary again."""
    if isinstance(value, dict):
        return {name: loosened(one) for name, one in value.items()}
    if isinstance(value, list):
        return (
            {key: loosened(one) for key, one in value}
            if value and isinstance(value[0], tuple)
            else [*map(loosened, value)]
        )
    return value


@pytest.mark.parametrize("first", range(0, HISTORIES, 50))
def test_every_version_of_a_random_history_is_read_as_fastavro_reads_it(first: int) -> None:
    rows = 0
    for seed in range(first, first + 50):
        texts, values = history(seed, 4)
        schemas = [parse_avro(text) for text in texts]
        known = [
            RegisteredSchema(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", one) for place, one in enumerate(schemas)
        ]
        plan = compose(known, merge(schemas))
        assert plan.rejected == (), f"seed {seed}"
        decode = make_decoder(plan)
        for turn, value in enumerate(values):
            found, code = decode(value) or (None, "no frame of the plan")
            assert code is None, f"seed {seed}, frame {turn}"
            assert loosened(found) == resolved(value, texts[turn // 4], plan.reader), f"seed {seed}, frame {turn}"
            assert decode(value[:-1]) == (None, "MALFORMED")
            assert decode(value + b"\0") == (None, "TRAILING")
            rows += 1
    assert rows == 1000


@pytest.mark.parametrize("first", [0, pytest.param(1_000, marks=pytest.mark.soak)])
def test_fifty_versions_are_read_as_fastavro_reads_them(first: int, figure: Callable[[str], None]) -> None:
    """Names, types and defaults move in nested records too."""
    rows = 0
    for seed in range(first, first + (200 if first else 3)):
        texts, values = long_history(seed, 2)
        schemas = [parse_avro(text) for text in texts]
        known = [
            RegisteredSchema(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", one) for place, one in enumerate(schemas)
        ]
        plan = compose(known, merge(schemas))
        assert plan.rejected == (), f"seed {seed}"
        decode, target = make_decoder(plan), parse_avro(plan.reader)
        shape = shape_of(target.root, target.names)
        for turn, value in enumerate(values):
            expected = shape(resolved(value, texts[turn // 2], plan.reader))
            assert decode(value) == (expected, None), f"seed {seed}, frame {turn}"
            rows += 1
    figure(f"histories of 50 versions from {first}: {rows} rows")


def unwrapped(value: Any, defaults: Mapping[tuple[str, ...], Any], path: tuple[str, ...] = ()) -> Any:
    """A value without records around the fields that Spark's engine wraps: a missing one is the field's default."""
    if path in defaults:
        if value is None:
            return defaults[path]
        return unwrapped(value[INSIDE], defaults, (*path, INSIDE))
    if isinstance(value, dict):
        return {name: unwrapped(one, defaults, (*path, name)) for name, one in value.items()}
    if isinstance(value, list):
        if value and isinstance(value[0], tuple):
            return [(key, unwrapped(one, defaults, (*path, "{}"))) for key, one in value]
        return [unwrapped(one, defaults, (*path, "[]")) for one in value]
    return value


def read_default(one: FieldDefault) -> Any:
    """The value of a default's bytes."""
    schema = parse_avro(one.schema)
    return compile_reader(schema, schema)(bytes.fromhex(one.value))[0][INSIDE]


def wrong_defaults(reader: str) -> set[str]:
    """The fields of unions with an empty list as their default, or one that is of another type to Avro's reader for Java."""
    schema = parse_avro(reader)
    records = [one for one in schema.names.values() if isinstance(one, AvroRecord)]
    sides = [
        (one, AvroSide(schema, one.type)) for record in records for one in record.fields if one.default is not ABSENT
    ]
    return {
        one.name
        for one, side in sides
        if not is_made_alike(one.default, side) or (one.default == [] and isinstance(one.type, AvroUnion))
    }


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(1_000, 4_000), marks=pytest.mark.soak)])
@pytest.mark.parametrize("make", [partial(long_history, rows=2), default_history], ids=["long", "defaults"])
def test_wrapping_fields_changes_no_value(seeds: range, make: Callable[[int], tuple[list[str], list[bytes]]]) -> None:
    """Avro's reader for Java finds no default any more that it fails at, and what is read without it stays the same."""
    wrapped = 0
    for seed in seeds if make is default_history else [2, 1021, *seeds[40:200]]:
        texts, values = make(seed)
        known = [
            RegisteredSchema(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", parse_avro(text))
            for place, text in enumerate(texts)
        ]
        reader, losers = planner.union(known)
        plan = compose([one for one in known if one.schema_id not in {lost.schema_id for lost in losers}], reader)
        assert isinstance(plan.recipe, AvroFormatPlan)
        recipe = wrap_fields(plan.recipe)
        assert wrap_fields(recipe).reader_text == recipe.reader_text, f"seed {seed}"
        if recipe == plan.recipe:
            continue
        wrapped += 1
        paths = {one.path[-1] for one in recipe.layouts if not one.fields}
        assert paths, f"seed {seed}"
        assert paths <= wrong_defaults(plan.recipe.reader_text), f"seed {seed}"
        defaults = {one.path: read_default(one) for one in recipe.defaults}
        before, after = make_decoder(plan), make_decoder(replace(plan, recipe=recipe))
        for turn, value in enumerate(values):
            row = before(value)
            if row is not None:
                found = after(value) or (None, None)
                assert (unwrapped(found[0], defaults), found[1]) == row, f"seed {seed}, frame {turn}"
    assert wrapped
