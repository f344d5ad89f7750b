"""Random histories of Avro schemas: unions, records with defaults, readers with other units, pairs, and records inside themselves."""

import json
from collections.abc import Callable, Iterable, Mapping

from tests.default_histories import default_history
from tests.fitted_pairs import FittedPairs, RawValues, plain_text
from tests.frames import frame
from tests.histories import long_history
from tests.pairs import narrowed, pair
from tests.plan_records.record import PlanRecord
from tests.recursive_unions import recursive_history
from tests.union_histories import union_history

PlanCase = Callable[[PlanRecord], None]


def run_unions(seed: int, *, careless: bool) -> PlanCase:
    """A history of unions."""

    def run(case: PlanRecord) -> None:
        history = union_history(seed, 4, careless=careless)
        case.put(*(text for text, _ in history))
        rows = [one.value for _, frames in history for one in frames[:2]]
        case.decode(rows=rows, reader="union")
        case.decode(rows=rows, reader="latest")

    return run


def run_defaults(seed: int) -> PlanCase:
    """A history of records with defaults, and a plan that follows that of the versions before."""

    def run(case: PlanRecord) -> None:
        texts, rows = default_history(seed, 4, 1, plain=seed % 3 == 0)
        case.put(*texts[:3])
        before = case.decode(rows=rows, reader="union")
        case.put(texts[3])
        case.decode(rows=rows, reader="union", before=before)
        case.decode(rows=rows, reader="latest")

    return run


def run_pairs(make: Callable[[int, int], tuple[str, str, list[object]]], seeds: Iterable[int]) -> PlanCase:
    """Writers and readers, each pair in a subject of its own."""

    def run(case: PlanRecord) -> None:
        for seed in seeds:
            writer, reader, values = make(seed, 2)
            case.put(writer, subject=f"s{seed}")
            case.decode(
                f"s{seed}",
                [frame(seed, writer, value) for value in values],
                reader=reader,
                lossy=("refuse", "double", "allow")[seed % 3],
            )

    return run


def run_fitted(seed: int) -> PlanCase:
    """A reader and two writers with other units and names."""

    def run(case: PlanRecord) -> None:
        pairs = FittedPairs(seed)
        reader = pairs.reader()
        rows = []
        for number in range(2):
            writers = pairs.writer(number)
            schema = writers.schema()
            (schema_id,) = case.put(json.dumps(schema))
            if schema_id > 0:
                rows.append(frame(schema_id, plain_text(schema), RawValues(schema, writers.twins, number).make(schema)))
        case.decode(rows=rows, reader=json.dumps(reader), lossy="allow" if seed % 2 else "refuse")

    return run


def run_recursion(seed: int) -> PlanCase:
    """Unions of records that contain themselves."""

    def run(case: PlanRecord) -> None:
        history = recursive_history(seed)
        case.put(*history.texts)
        case.decode(rows=history.frames[:4], reader="union", depth=history.depth)

    return run


def run_long(seed: int) -> PlanCase:
    """Many versions."""

    def run(case: PlanRecord) -> None:
        texts, rows = long_history(seed, 1, 9)
        case.put(*texts)
        case.decode(rows=rows[::3], reader="union")
        case.decode(rows=rows[::4], reader="latest")

    return run


CASES: Mapping[str, PlanCase] = {
    **{f"unions-{seed}": run_unions(seed, careless=False) for seed in range(7)},
    **{f"careless-unions-{seed}": run_unions(seed, careless=True) for seed in range(4)},
    **{f"defaults-{seed}": run_defaults(seed) for seed in range(7)},
    **{f"pairs-{seed}": run_pairs(pair, range(seed, seed + 4)) for seed in range(0, 20, 4)},
    **{f"narrowed-{seed}": run_pairs(narrowed, range(seed, seed + 4)) for seed in range(40, 52, 4)},
    **{f"fitted-{seed}": run_fitted(seed) for seed in range(8)},
    **{f"recursion-{seed}": run_recursion(seed) for seed in range(4)},
    **{f"long-{seed}": run_long(seed) for seed in range(2)},
}
