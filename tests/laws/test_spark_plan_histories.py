"""Random histories of a schema: whatever the versions, the woven plan reads each as fastavro resolves it by itself."""

from typing import Any

import pytest

from tests.frames import resolved
from tests.histories import history
from treaty.arrow.avro.rows import decoder_of
from treaty.core.names import DEFAULT_CONTEXT
from treaty.plan.asking import parsed
from treaty.plan.avro.composing import compose
from treaty.plan.avro.merging import merge
from treaty.plan.known import Known
from treaty.spark.engines.builtin import recipe_of

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
        schemas = [parsed(text) for text in texts]
        known = [Known(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", one) for place, one in enumerate(schemas)]
        plan = compose(known, merge(schemas))
        assert plan.rejected == (), f"seed {seed}"
        decode = decoder_of(plan)
        for turn, value in enumerate(values):
            found = decode(value)
            assert found is not None, f"seed {seed}, frame {turn}"
            assert found.pop(recipe_of(plan).tail) == recipe_of(plan).ending_value
            assert loosened(found) == resolved(value, texts[turn // 4], plan.reader), f"seed {seed}, frame {turn}"
            assert (decode(value[:-1]) or {recipe_of(plan).tail: 0})[recipe_of(plan).tail] != recipe_of(
                plan
            ).ending_value
            assert (decode(value + b"\0") or {recipe_of(plan).tail: 0})[recipe_of(plan).tail] != recipe_of(
                plan
            ).ending_value
            rows += 1
    assert rows == 1000
