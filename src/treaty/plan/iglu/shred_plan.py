"""`ShredPlan`: which column each part of an event goes into, by vendor, name and model of its schema."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from treaty.client.iglu.resolver import Resolver
from treaty.core.iglu_key import IgluKey, SchemaCriterion
from treaty.plan.ddl import find_free_name
from treaty.plan.iglu.columns import (
    STRING,
    EventField,
    FieldType,
    LeafType,
    ObjectType,
    TypeChangeError,
    column_name,
    derive_type,
    merge_types,
    show_type,
)
from treaty.plan.iglu.resolution import FOUND, ResolvedSchemas

FORMAT = 1
"""The format of the stored form."""
JSONSCHEMA = "jsonschema"
VERSION = "_schema_version"
"""The first column of a part: the version of the schema that it was validated with."""
VERSION_MEMBER = "\0version"
"""The member under which a part is given its version: no JSON object of a schema has one of this name."""


@dataclass(frozen=True, slots=True)
class ShredColumn:
    """A column for the parts of one model, or for those of one version that can't share a column with versions before.

    `versions` are the URIs whose values it holds. `reason` says why a version has a column of its own.
    """

    name: str
    type: ObjectType
    versions: tuple[str, ...]
    reason: str = ""
    holds_values: bool = False
    """Whether its values are no objects, so that they are in one column ``value``."""


@dataclass(frozen=True)
class ShredPlan:
    """Families of schemas, each a model's versions in their order: pairs of a URI and its document as JSON text.

    Stored beside a batch, a later run of it comes to the same columns.
    """

    families: tuple[tuple[tuple[str, str], ...], ...] = ()

    @cached_property
    def columns(self) -> tuple[ShredColumn, ...]:
        """The columns, by name."""
        used_names: set[str] = set()
        columns = []
        for derived in (column for family in self.families for column in _list_columns(family)):
            columns.append(replace(derived, name=find_free_name(derived.name, used_names)))
            used_names.add(columns[-1].name)
        return tuple(sorted(columns, key=lambda one: one.name))

    @cached_property
    def by_version(self) -> Mapping[str, ShredColumn]:
        """The column of each version, by URI."""
        return {uri: one for one in self.columns for uri in one.versions}

    def to_json(self) -> str:
        """The stored form."""
        return json.dumps({"shredding": FORMAT, "families": self.families}, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> "ShredPlan":
        """Read the stored form. Raises `ValueError` for a format that this version does not know."""
        stored: dict[str, Any] = json.loads(text)
        if stored.get("shredding") != FORMAT:
            message = f"this plan has the format {stored.get('shredding')!r}, known is {FORMAT}: upgrade Treaty"
            raise ValueError(message)
        return ShredPlan(tuple(tuple((uri, document) for uri, document in one) for one in stored["families"]))


def make_shred_plan(
    resolver: Resolver, schemas: ResolvedSchemas, earlier: ShredPlan | None = None, *, without: Iterable[str] = ()
) -> ShredPlan:
    """Make the plan for the schemas of a batch, those of `earlier` included.

    The versions of a model before the newest one that is used are resolved too, so that a column does not depend on
    which of them a batch has. Schemas that a criterion in `without` matches (envelopes) get no column. Raises
    `ResolutionError`.
    """
    skipped = [SchemaCriterion.parse(one) for one in without]
    models: dict[tuple[str, str, int], dict[IgluKey, str]] = {}
    for uri, document in (
        *_list_used(schemas),
        *(pair for one in (earlier.families if earlier else ()) for pair in one),
    ):
        key = IgluKey.parse(uri)
        if key.format == JSONSCHEMA and not any(one.matches(key) for one in skipped):
            models.setdefault((key.vendor, key.name, key.version.model), {})[key] = document
    have = {one for family in (earlier.families if earlier else ()) for one, _ in family}
    for members in models.values():
        newest = max(members)
        if str(newest) not in have:
            members |= {one.key: _compact(one.document) for one in resolver.lookup_until(newest).members}
    families = (sorted(models[model].items()) for model in sorted(models))
    return ShredPlan(tuple(tuple((str(key), document) for key, document in one) for one in families))


def _list_used(schemas: ResolvedSchemas) -> Iterator[tuple[str, str]]:
    return ((one.used, one.document) for one in schemas.entries if one.outcome == FOUND)


def _list_columns(family: tuple[tuple[str, str], ...]) -> list[ShredColumn]:
    """The column of a model, and one for each version that breaks it: later versions continue the model's."""
    first = IgluKey.parse(family[0][0])
    base = f"{column_name(first.vendor)}_{column_name(first.name)}"
    merged: FieldType = ObjectType(())
    holds_values = False
    versions: list[str] = []
    broken: list[ShredColumn] = []
    for uri, document in family:
        derived = derive_type(json.loads(document))
        kind, is_value = _as_group(derived), derived is not None and not isinstance(derived, ObjectType)
        try:
            if versions and is_value != holds_values:
                raise TypeChangeError("", show_type(merged), show_type(kind))
            holds_values = is_value
            merged = merge_types(merged, kind) if versions else kind
            versions.append(uri)
        except TypeChangeError as error:
            label = str(IgluKey.parse(uri).version).replace("-", "_")
            digest = hashlib.sha256(document.encode()).hexdigest()[:8]
            broken.append(
                ShredColumn(f"{base}_{label}_recovered_{digest}", _with_version(kind), (uri,), str(error), is_value)
            )
    assert isinstance(merged, ObjectType)
    return [
        ShredColumn(f"{base}_{first.version.model}", _with_version(merged), tuple(versions), holds_values=holds_values),
        *broken,
    ]


def _with_version(kind: ObjectType) -> ObjectType:
    """The columns of a part, and before them the version of its schema."""
    name = find_free_name(VERSION, {one.name for one in kind.fields})
    return ObjectType((EventField(name, LeafType(STRING), False, (VERSION_MEMBER,)), *kind.fields))


def _as_group(kind: FieldType | None) -> ObjectType:
    """An object's columns; a schema of other values has one column ``value``."""
    if kind is None:
        return ObjectType(())
    return kind if isinstance(kind, ObjectType) else ObjectType((EventField("value", kind, True, ("value",)),))


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
