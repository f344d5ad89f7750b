"""Puts the parts of events into typed columns, one for each model of a schema."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa

from treaty.arrow.iglu.events import FAILURE, EventOptions, Failure
from treaty.arrow.iglu.names import bytes_of
from treaty.arrow.types import arrow_type
from treaty.core.iglu_key import IgluKey, SchemaCriterion
from treaty.plan.ddl import parse_type
from treaty.plan.iglu.casts import Cast, CastError, make_cast
from treaty.plan.iglu.columns import type_ddl
from treaty.plan.iglu.resolution import ResolvedSchemas
from treaty.plan.iglu.shred_plan import VERSION_MEMBER, ShredPlan

UNFIT = "UNFIT"
"""The code of a part that its schema allows and its columns can't hold."""


@dataclass(frozen=True, slots=True)
class _Target:
    """Where parts of a schema go: the place of a column, how they are cast, and the version that they were validated with."""

    place: int
    cast: Cast
    version: str
    holds_values: bool


class EventShredder:
    """Shreds batches of valid events by a plan. It asks no registry."""

    def __init__(self, schemas: ResolvedSchemas, plan: ShredPlan, options: EventOptions) -> None:
        self._options = options
        self._places = {one.name: place for place, one in enumerate(plan.columns)}
        self._types = [pa.list_(arrow_type(parse_type(type_ddl(one.type)))) for one in plan.columns]
        casts = [make_cast(one.type) for one in plan.columns]
        self._targets = {
            uri: _Target(
                place := self._places[plan.by_version[used].name],
                casts[place],
                used.rpartition("/")[2],
                plan.by_version[used].holds_values,
            )
            for uri, used in schemas.versions.items()
            if used in plan.by_version
        }
        self._envelopes = tuple(SchemaCriterion.parse(one) for one in options.envelopes)
        self._kinds: dict[str, bool] = {}

    def shred(self, columns: Sequence[pa.Array]) -> tuple[list[pa.Array], pa.Array]:
        """The columns of the plan, each an array of parts or null for a row, and the failures of rows that do not fit."""
        count = len(columns[0])
        cells: list[list[list[Any] | None]] = [[None] * count for _ in self._types]
        failures: list[list[Failure] | None] = [None] * count
        for name, column in zip(self._options.columns, columns, strict=True):
            data, places = bytes_of(column)
            for place, text in enumerate(data[begin:end] for begin, end in itertools.pairwise(places)):
                if not text:
                    continue
                for part, uri, value in self._list_parts(msgspec.json.decode(text), "$"):
                    try:
                        self._put(cells, place, uri, value)
                    except CastError as error:
                        failure: Failure = {
                            "column": name, "part": part, "schema": uri, "code": UNFIT, "path": f"${error.path}", "message": str(error)
                        }  # fmt: skip
                        failures[place] = [*(failures[place] or ()), failure]
        arrays = [pa.array(one, kind) for one, kind in zip(cells, self._types, strict=True)]
        return arrays, pa.array(failures, pa.list_(FAILURE))

    def _put(self, cells: list[list[list[Any] | None]], place: int, uri: str, value: Any) -> None:
        target = self._targets[uri]
        if target.holds_values:
            members = {"value": value}
        elif isinstance(value, dict):
            members = value  # decoded for this alone, so that it may be added to
        else:
            raise CastError("the value is no object")
        members[VERSION_MEMBER] = target.version
        row = target.cast(members)
        column = cells[target.place]
        held = column[place]
        if held is None:
            column[place] = [row]
        else:
            held.append(row)

    def _list_parts(self, value: Any, part: str) -> Iterator[tuple[str, str, Any]]:
        """The parts of a valid event: path, URI and data; an envelope is none itself."""
        uri, data = value["schema"], value["data"]
        if not self._is_envelope(uri):
            yield part, uri, data
        elif isinstance(data, list):
            for place, item in enumerate(data):
                yield from self._list_parts(item, f"{part}.data[{place}]")
        else:
            yield from self._list_parts(data, f"{part}.data")

    def _is_envelope(self, uri: str) -> bool:
        is_envelope = self._kinds.get(uri)
        if is_envelope is None:
            key = IgluKey.parse(uri)
            is_envelope = self._kinds[uri] = any(one.matches(key) for one in self._envelopes)
        return is_envelope
