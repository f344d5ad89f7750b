"""Recipes: what a decode plan holds for one format only, as frozen values that can be stored."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Repair:
    """A field whose value stands in a hidden field for rows of some writers.

    `path` leads from the record to the field's owner: names, ``[]`` for the items of an array, ``{}`` for the values of
    a map. `how` is the conversion, `type` the Spark type that the field shall have.
    """

    path: tuple[str, ...]
    field: str
    hidden: str
    ids: tuple[int, ...]
    how: str
    type: str


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of a record in which, or below which, something is repaired."""

    path: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AvroRecipe:
    """How Avro rows are read: what Spark's `from_avro` gets, and how the two texts are woven (see `avro.weaving`)."""

    writer_text: str
    reader_text: str
    union: bool
    tail: str
    whole: str
    repairs: tuple[Repair, ...] = ()
    layouts: tuple[Layout, ...] = ()

    @staticmethod
    def stored(parts: dict[str, Any]) -> "AvroRecipe":
        """Read the stored form."""
        repairs = (Repair(**{**one, "path": tuple(one["path"]), "ids": tuple(one["ids"])}) for one in parts["repairs"])
        layouts = (Layout(tuple(one["path"]), tuple(one["fields"])) for one in parts["layouts"])
        return AvroRecipe(**{**parts, "repairs": tuple(repairs), "layouts": tuple(layouts)})


@dataclass(frozen=True, slots=True)
class Heads:
    """Message indexes of a writer, as hex: those that mean the reader's message, and what the others mean by name."""

    schema_id: int
    mine: tuple[str, ...]
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ProtobufRecipe:
    """How Protobuf rows are read: by the reader's message alone, since the wire knows fields by number.

    `files` are descriptors of files in Base64, each after those that it imports; `message` is a full name.
    """

    files: tuple[str, ...]
    message: str
    heads: tuple[Heads, ...]
    defaults: bool = False
    """Whether a field that is not set has its default and not null."""

    @staticmethod
    def stored(parts: dict[str, Any]) -> "ProtobufRecipe":
        """Read the stored form."""
        heads = tuple(
            Heads(one["schema_id"], tuple(one["mine"]), tuple((head, name) for head, name in one["others"]))
            for one in parts["heads"]
        )
        return ProtobufRecipe(tuple(parts["files"]), parts["message"], heads, parts["defaults"])


@dataclass(frozen=True, slots=True)
class JsonRecipe:
    """How JSON rows are read: into the columns of the plan. `whole`: the document is no object, and one column has it."""

    whole: bool = False

    @staticmethod
    def stored(parts: dict[str, Any]) -> "JsonRecipe":
        """Read the stored form."""
        return JsonRecipe(**parts)


Recipe = AvroRecipe | ProtobufRecipe | JsonRecipe
RECIPES: dict[str, type[Recipe]] = {"AVRO": AvroRecipe, "PROTOBUF": ProtobufRecipe, "JSON": JsonRecipe}
"""By format."""
