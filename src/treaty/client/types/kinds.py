"""The kinds of classes with fields, and their fields, how these are read from a value, and how a value is made."""

import dataclasses
import functools
import inspect
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from treaty.client.types.annotations import FieldDoc, FieldName
from treaty.client.types.shapes import ABSENT


@dataclass(frozen=True, slots=True)
class ClassField:
    """A field of a class; `default` is a value, or ABSENT beside a `factory`, or both ABSENT and None."""

    name: str
    attribute: str
    argument: str
    annotation: Any
    default: Any = ABSENT
    factory: Callable[[], Any] | None = None
    doc: str = ""
    marks: tuple[Any, ...] = ()
    optional: bool = False


@dataclass(frozen=True, slots=True)
class ClassKind:
    """A kind of class: whether one is of it, its fields, and what differs from plain attributes and arguments."""

    name: str
    holds: Callable[[Any], bool]
    fields: Callable[[Any], Iterator[ClassField]]
    get: Callable[[Any, str], Any] = getattr
    maker: Callable[[Any], Callable[[dict[str, Any]], Any]] = lambda cls: lambda given: cls(**given)
    of: Callable[[Any, Any], bool] = isinstance
    tag: Callable[[Any], tuple[str, str] | None] = lambda cls: None


def annotations(cls: Any) -> dict[str, Any]:
    """The annotations of a class and its parents, names resolved, marks kept. Raises `NameError`."""
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except NameError:  # a class inside a function may still name itself
        return typing.get_type_hints(cls, None, {cls.__name__: cls}, include_extras=True)


def _dataclass(cls: Any) -> Iterator[ClassField]:
    hints = annotations(cls)
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        factory = None if field.default_factory is dataclasses.MISSING else field.default_factory
        default = ABSENT if field.default is dataclasses.MISSING else field.default
        doc = field.metadata.get("doc", "")
        name = field.metadata.get("alias", field.name)
        yield ClassField(name, field.name, field.name, hints[field.name], default, factory, doc)


def _struct(cls: Any) -> Iterator[ClassField]:
    hints = annotations(cls)
    for field in msgspec.structs.fields(cls):
        default = ABSENT if field.default is msgspec.NODEFAULT else field.default
        factory = None if field.default_factory is msgspec.NODEFAULT else field.default_factory
        yield ClassField(field.encode_name, field.name, field.name, hints[field.name], default, factory)


def _struct_tag(cls: Any) -> tuple[str, str] | None:
    config = cls.__struct_config__
    return None if config.tag is None else (config.tag_field, str(config.tag))


def _model(cls: Any) -> Iterator[ClassField]:
    for attribute, field in cls.model_fields.items():
        argument = field.validation_alias or field.alias
        argument = argument if isinstance(argument, str) else attribute
        name = field.serialization_alias or field.alias or attribute
        doc, marks, plain = field.description or "", tuple(field.metadata), field.annotation
        if field.is_required():
            yield ClassField(name, attribute, argument, plain, doc=doc, marks=marks)
        elif field.default_factory is not None:
            make = functools.partial(field.get_default, call_default_factory=True, validated_data={})
            yield ClassField(name, attribute, argument, plain, factory=make, doc=doc, marks=marks)
        else:
            yield ClassField(name, attribute, argument, plain, field.default, doc=doc, marks=marks)


def is_typed_dict(cls: Any) -> bool:
    """Whether a class is a `TypedDict`: of `typing`, or of ``typing_extensions``, which makes its own."""
    return isinstance(cls, type) and issubclass(cls, dict) and hasattr(cls, "__required_keys__")


def _typed_dict_fields(cls: Any) -> Iterator[ClassField]:
    for name, hint in annotations(cls).items():
        yield ClassField(name, name, name, hint, optional=name in cls.__optional_keys__)


def _item(value: Any, name: str) -> Any:
    return value.get(name, ABSENT)


def _is_typed(value: Any, cls: Any) -> bool:
    """Whether a dictionary has the keys of a `TypedDict`, and no others."""
    keys = value.keys() if isinstance(value, dict) else ()
    return isinstance(value, dict) and cls.__required_keys__ <= keys <= cls.__required_keys__ | cls.__optional_keys__


def _named_tuple(cls: Any) -> Iterator[ClassField]:
    for name, hint in annotations(cls).items():
        yield ClassField(name, name, name, hint, cls._field_defaults.get(name, ABSENT))


def _attrs(cls: Any) -> Iterator[ClassField]:
    nothing, hints = sys.modules["attr"].NOTHING, annotations(cls)
    for field in cls.__attrs_attrs__:
        if not field.init:
            continue
        factory = getattr(field.default, "factory", None)
        default = ABSENT if factory is not None or field.default is nothing else field.default
        doc = field.metadata.get("doc", "")
        yield ClassField(field.name, field.name, field.alias, hints[field.name], default, factory, doc)


KINDS: tuple[ClassKind, ...] = (
    ClassKind("msgspec.Struct", lambda cls: issubclass(cls, msgspec.Struct), _struct, tag=_struct_tag),
    ClassKind("pydantic.BaseModel", lambda cls: isinstance(getattr(cls, "model_fields", None), Mapping), _model),
    ClassKind("attrs", lambda cls: "__attrs_attrs__" in cls.__dict__, _attrs),
    ClassKind("dataclass", dataclasses.is_dataclass, _dataclass),
    ClassKind(
        "TypedDict", is_typed_dict, _typed_dict_fields, get=_item, maker=lambda cls: lambda given: given, of=_is_typed
    ),
    ClassKind("NamedTuple", lambda cls: issubclass(cls, tuple) and hasattr(cls, "_field_defaults"), _named_tuple),
)
"""In the order in which they are asked: a pydantic dataclass is a dataclass, not a model."""


def find_class_kind(cls: Any) -> ClassKind | None:
    """The kind of a class; None for a class without known fields."""
    if not inspect.isclass(cls):
        return None
    return next((kind for kind in KINDS if kind.holds(cls)), None)


def doc_of(cls: Any) -> str:
    """The docstring that somebody wrote for this class; "" where Python made one, or none."""
    doc = cls.__dict__.get("__doc__") or ""
    is_generated = doc.startswith(f"{cls.__name__}(") or doc in {"An enumeration.", "None"}
    return "" if is_generated else inspect.cleandoc(doc)


def doc_of_marks(marks: tuple[Any, ...]) -> str:
    """What marks say that a field is about: ours, or msgspec's and pydantic's own."""
    for mark in marks:
        description = getattr(mark, "description", None) or getattr(mark, "documentation", None)
        text = mark.text if isinstance(mark, FieldDoc) else description
        if isinstance(text, str) and text:
            return text
    return ""


def name_of_marks(marks: tuple[Any, ...], otherwise: str) -> str:
    """The name that marks give a field."""
    return next((mark.name for mark in marks if isinstance(mark, FieldName)), otherwise)
