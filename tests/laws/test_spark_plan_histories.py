"""Random histories of a schema: whatever the versions, the woven plan reads each as fastavro resolves it by itself."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.frames import resolved
from tests.histories import history, long_history
from tests.shapes import shape_of
from treaty.arrow.avro.rows import make_decoder
from treaty.core.names import DEFAULT_CONTEXT
from treaty.plan.avro.merge import merge
from treaty.plan.avro.planner import compose
from treaty.plan.format_plans import AvroFormatPlan
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_avro
from treaty.spark.engines.empty_lists import INSIDE, wrap_empty_lists

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


def unwrapped(value: Any) -> Any:
    """A value without records around the fields that Spark's engine wraps."""
    if isinstance(value, dict):
        return (
            unwrapped(value[INSIDE])
            if value.keys() == {INSIDE}
            else {key: unwrapped(one) for key, one in value.items()}
        )
    return type(value)(map(unwrapped, value)) if isinstance(value, list | tuple) else value


def bad_defaults(reader: str) -> set[str]:
    """The fields of unions with an empty list as their default, which Avro's reader for Java fails at."""
    return {
        field["name"]
        for node in walk(json.loads(reader))
        if isinstance(node, dict)
        for field in node.get("fields", ())
        if isinstance(field["type"], list) and field.get("default") == []
    }


def walk(node: Any) -> Iterator[Any]:
    yield node
    for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from walk(one)


@pytest.mark.parametrize("seeds", [(2, 1021), pytest.param(range(1_000, 1_200), marks=pytest.mark.soak)])
def test_wrapping_empty_lists_changes_no_value(seeds: Iterable[int]) -> None:
    """Avro's reader for Java finds no default any more that it fails at, and what is read without it stays the same."""
    wrapped = 0
    for seed in seeds:
        texts, values = long_history(seed, 2)
        known = [
            RegisteredSchema(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", parse_avro(text))
            for place, text in enumerate(texts)
        ]
        plan = compose(known, merge([parse_avro(text) for text in texts]))
        assert isinstance(plan.recipe, AvroFormatPlan)
        recipe = wrap_empty_lists(plan.recipe)
        assert wrap_empty_lists(recipe) is recipe, f"seed {seed}"
        if recipe is plan.recipe:
            continue
        wrapped += 1
        paths = {one.path[-1] for one in recipe.layouts if not one.fields}
        assert paths, f"seed {seed}"
        assert bad_defaults(plan.recipe.reader_text) - bad_defaults(recipe.reader_text) == paths, f"seed {seed}"
        before, after = make_decoder(plan), make_decoder(replace(plan, recipe=recipe))
        for turn, value in enumerate(values):
            assert unwrapped(after(value)) == before(value), f"seed {seed}, frame {turn}"
    assert wrapped
