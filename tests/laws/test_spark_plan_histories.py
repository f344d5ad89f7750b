"""Random histories of a schema: whatever the versions, the woven plan reads each as fastavro resolves it by itself."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.frames import resolved
from tests.histories import history, long_history
from tests.shapes import shape_of
from treaty.arrow.avro.rows import make_decoder
from treaty.core.names import DEFAULT_CONTEXT
from treaty.plan.avro.merge import merge
from treaty.plan.avro.planner import compose
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_avro

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
