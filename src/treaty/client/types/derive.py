"""From a Python type to its shape: annotations read, names given, recursion closed."""

import collections
import collections.abc
import enum
import re
import types
import typing
from decimal import Decimal
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from treaty.client.types import scalars
from treaty.client.types.annotations import DecimalDigits, FieldAliases, FixedSize, OptionalField, StoredAs, TypeName
from treaty.client.types.errors import NoSchemaError
from treaty.client.types.kinds import ClassField, ClassKind, doc_of, doc_of_marks, find_class_kind, name_of_marks
from treaty.client.types.shapes import (
    ABSENT,
    AnyShape,
    DerivedType,
    EnumShape,
    FieldShape,
    FixedShape,
    LiteralShape,
    MapShape,
    RecordShape,
    RecordUse,
    ScalarShape,
    SequenceShape,
    Shape,
    TupleShape,
    UnionShape,
)

Marks = tuple[Any, ...]
Bound = dict[Any, Any]
"""What type variables stand for."""

SEQUENCES: dict[Any, type] = {
    list: list,
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Collection: list,
    collections.abc.Iterable: list,
    set: set,
    collections.abc.Set: set,
    collections.abc.MutableSet: set,
    frozenset: frozenset,
    collections.deque: collections.deque,
}
MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping, collections.OrderedDict)
STRIPPED = (typing.ClassVar, typing.Final, typing.Required, typing.NotRequired)
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_RECORDS = 1000
"""Classes that one class may lead to; generic classes that contain bigger and bigger ones would never end."""


def derive(kind: Any, namespace: str = "") -> DerivedType:
    """Return the shape of a type: a class with fields, or any annotation. Names without a namespace get `namespace`.

    Raises `NoSchemaError` with the path to what has no schema in any format.
    """
    reader = _AnnotationReader(namespace)
    shape = reader.shape(kind, "value", (), {})
    return DerivedType(shape, {record.name: record for record in reader.records.values() if record is not None})


class _AnnotationReader:
    """Reads annotations; remembers the classes that it has met."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.records: dict[Any, RecordShape | None] = {}
        self._names: dict[str, Any] = {}

    def shape(self, hint: Any, path: str, marks: Marks, bound: Bound) -> Shape:
        """The shape of an annotation that carries marks, at a path."""
        hint = bound.get(hint, hint) if isinstance(hint, TypeVar) else hint
        origin, args = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self.shape(args[0], path, (*args[1:], *marks), bound)
        if origin in STRIPPED or getattr(origin, "__name__", "") == "ReadOnly":
            return self.shape(args[0], path, marks, bound)
        if isinstance(hint, typing.NewType):
            return self.shape(hint.__supertype__, path, marks, bound)
        if type(hint).__name__ == "TypeAliasType":
            return self.shape(hint.__value__, path, marks, bound)
        if origin in {Union, types.UnionType}:
            return self._union(args, path, marks, bound)
        if origin is typing.Literal:
            return _words(args, path)
        if hint in {Any, object}:
            return AnyShape()
        if isinstance(hint, TypeVar):
            raise NoSchemaError(path, f"the type variable {hint} stands for nothing; give the class its arguments")
        container = self._container(hint, origin, args, (path, marks, bound))
        return container or self._read_named(hint, path, marks, bound)

    def _container(
        self, hint: Any, origin: Any, args: tuple[Any, ...], place: tuple[str, Marks, Bound]
    ) -> Shape | None:
        path, _, bound = place
        generic = origin or hint
        if generic is tuple:
            if not args:
                raise NoSchemaError(path, "a tuple without types of its items; tuple[int, ...] would be allowed")
            if len(args) == 2 and args[1] is Ellipsis:
                return SequenceShape(self.shape(args[0], f"{path}[]", (), bound), tuple)
            return TupleShape(
                tuple(self.shape(each, f"{path}[{n}]", (), bound) for n, each in enumerate(args) if each != ())
            )
        if generic in SEQUENCES:
            if not args:
                raise NoSchemaError(
                    path, f"{_name_of(hint)} without a type of its items; {_name_of(hint)}[int] would be allowed"
                )
            return SequenceShape(self.shape(args[0], f"{path}[]", (), bound), SEQUENCES[generic])
        if generic in MAPPINGS:
            if not args:
                raise NoSchemaError(path, "a dictionary without types; dict[str, int] would be allowed")
            return self._mapping(args, path, bound)
        return None

    def _mapping(self, args: tuple[Any, ...], path: str, bound: Bound) -> Shape:
        key = self.shape(args[0], f"{path}<key>", (), bound)
        value = self.shape(args[1], f"{path}{{}}", (), bound)
        if isinstance(key, ScalarShape) and key.key is not None:
            return MapShape(key.key, str, value)
        if isinstance(key, EnumShape):
            texts = {member: symbol for symbol, member in key.members}
            return MapShape(dict(key.members).__getitem__, texts.__getitem__, value)
        message = f"keys of type {_name_of(args[0])}; keys of maps are texts, so str, int, UUID and enums are allowed"
        raise NoSchemaError(path, message)

    def _union(self, args: tuple[Any, ...], path: str, marks: Marks, bound: Bound) -> Shape:
        """The branches, flattened, each once; marks hold for the only one that is not None."""
        inner = [each for each in args if each not in {None, type(None)}]
        branches: list[Shape] = []
        for argument in args:
            shape = self.shape(argument, path, marks if len(inner) == 1 and argument is inner[0] else (), bound)
            for branch in shape.branches if isinstance(shape, UnionShape) else (shape,):
                if branch not in branches:
                    branches.append(branch)
        return branches[0] if len(branches) == 1 else UnionShape(tuple(branches))

    def _read_named(self, hint: Any, path: str, marks: Marks, bound: Bound) -> Shape:
        """A scalar, an enum or a class with fields."""
        stored = next((mark.form for mark in marks if isinstance(mark, StoredAs)), None)
        if stored is not None:
            return _find_stored(hint, stored, path)
        if hint is Decimal:
            return _decimal(marks, path)
        size = next((mark for mark in marks if isinstance(mark, FixedSize)), None)
        if size is not None and hint is bytes:
            name = self._name(marks, path.rpartition(".")[2].strip("[]{}"), path)
            self._claim(name, size, path)
            return FixedShape(name, size.count)
        is_plain = isinstance(hint, type) or hint is None
        scalar = scalars.SCALARS.get(hint) if is_plain else None
        scalar = scalar or scalars.STAND_INS.get(f"{getattr(hint, '__module__', '')}.{_name_of(hint)}")
        if scalar is not None:
            return scalar
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return self._enum(hint, path, marks)
        origin = get_origin(hint) or hint
        kind = find_class_kind(origin)
        if kind is None:
            raise NoSchemaError(path, f"{_name_of(hint)} has no schema; {ALLOWED}")
        return self._record(kind, hint, (path, marks, bound))

    def _enum(self, kind: type[enum.Enum], path: str, marks: Marks) -> Shape:
        if issubclass(kind, enum.Flag):
            return ScalarShape(kind, "long", {"type": "integer"}, _number, kind, _number, kind)
        members = tuple(kind)
        texts = [str(member.value) for member in members if isinstance(member.value, str)]
        by_value = len(texts) == len(members) and all(map(IDENTIFIER.fullmatch, texts))
        symbols = tuple((member.value if by_value else member.name, member) for member in members)
        name = self._name(marks, getattr(kind, "__schema_name__", kind.__name__), path)
        self._claim(name, kind, path)
        return EnumShape(kind, name, doc_of(kind), symbols)

    def _record(self, kind: ClassKind, hint: Any, place: tuple[str, Marks, Bound]) -> Shape:
        path, marks, bound = place
        cls, args = get_origin(hint) or hint, get_args(hint)
        filled = tuple(bound.get(each, each) if isinstance(each, TypeVar) else each for each in args)
        own = cls.__dict__.get("__schema_name__") if hasattr(cls, "__dict__") else None
        plain = own or "_".join([cls.__name__, *map(_spell_type, filled)])
        name = self._name(marks, plain, path)
        key = (cls, filled, name)
        if key not in self.records:
            self._claim(name, key, path)
            if len(self.records) >= MAX_RECORDS:
                raise NoSchemaError(path, f"the class leads to more than {MAX_RECORDS} others")
            self.records[key] = None
            inner = dict(zip(getattr(cls, "__parameters__", ()), filled, strict=False))
            within = path if path != "value" else name.rpartition(".")[2]
            parts = tuple(self._part(given, within, inner) for given in _fields(kind, cls, path))
            _refuse_duplicates(parts, within)
            make = kind.maker(cls)
            of = kind.of
            self.records[key] = RecordShape(
                cls, name, doc_of(cls), parts, kind.get, make, lambda value: of(value, cls), kind.tag(cls)
            )
        return RecordUse(name)

    def _part(self, class_field: ClassField, within: str, bound: Bound) -> FieldShape:
        marks = class_field.marks
        if get_origin(class_field.annotation) is Annotated:
            marks = (*get_args(class_field.annotation)[1:], *marks)
        path = f"{within}.{class_field.name}"
        shape = self.shape(class_field.annotation, path, class_field.marks, bound)
        optional = class_field.optional or any(isinstance(mark, OptionalField) for mark in marks)
        if optional and not (isinstance(shape, UnionShape) and scalars.NULL in shape.branches):
            branches = shape.branches if isinstance(shape, UnionShape) else (shape,)
            shape = UnionShape((scalars.NULL, *branches))
        old = tuple(name for mark in marks if isinstance(mark, FieldAliases) for name in mark.names)
        return FieldShape(
            name_of_marks(marks, class_field.name),
            class_field.attribute,
            class_field.argument,
            shape,
            None if optional else _default(class_field),
            optional,
            optional or class_field.default is not ABSENT or class_field.factory is not None,
            class_field.doc or doc_of_marks(marks),
            old,
        )

    def _name(self, marks: Marks, otherwise: str, path: str) -> str:
        name = next((mark.name for mark in marks if isinstance(mark, TypeName)), "") or otherwise
        parts = [re.sub(r"\W+", "_", part).strip("_") or "_" for part in name.split(".")]
        if not all(map(IDENTIFIER.fullmatch, parts)):
            raise NoSchemaError(
                path, f"{name!r} is no name of a type; letters, digits and _ are allowed: use TypeName(...)"
            )
        return ".".join([self.namespace, *parts] if self.namespace and len(parts) == 1 else parts)

    def _claim(self, name: str, owner: Any, path: str) -> None:
        if self._names.setdefault(name, owner) != owner:
            raise NoSchemaError(path, f"two types are called {name}; give one of them another name with TypeName(...)")


ALLOWED = (
    "allowed are bool, int, float, str, bytes, datetime, date, time, timedelta, Decimal, UUID, enums, Literal, list, set, "
    "tuple, dict, unions, and classes with fields: dataclass, msgspec.Struct, pydantic.BaseModel, TypedDict, NamedTuple, attrs"
)


def _number(value: enum.Flag) -> int:
    return int(value.value)


def _fields(kind: ClassKind, cls: Any, path: str) -> tuple[ClassField, ...]:
    try:
        return tuple(kind.fields(cls))
    except NameError as error:
        raise NoSchemaError(path, f"an annotation of {cls.__name__} is not known here: {error}") from error


def _refuse_duplicates(parts: tuple[FieldShape, ...], within: str) -> None:
    names: set[str] = set()
    for part in parts:
        if part.name in names:
            raise NoSchemaError(f"{within}.{part.name}", "two fields have this name")
        names.add(part.name)


def _default(class_field: ClassField) -> Any:
    """The default as a value; ABSENT where there is none, or where it differs each time."""
    if class_field.factory is None:
        return class_field.default
    first, second = class_field.factory(), class_field.factory()
    return first if first == second else ABSENT


def _find_stored(hint: Any, form: str, path: str) -> Shape:
    stored = scalars.STORED.get((hint, form)) if isinstance(hint, type) else None
    if stored is None:
        forms = sorted(form for kind, form in scalars.STORED if kind is hint)
        raise NoSchemaError(
            path, f"StoredAs({form!r}) does not go with {_name_of(hint)}; allowed: {', '.join(forms) or 'none'}"
        )
    return stored


def _decimal(marks: Marks, path: str) -> Shape:
    for mark in marks:
        own = isinstance(mark, DecimalDigits)
        precision: int | None = mark.precision if own else getattr(mark, "max_digits", None)
        scale: int = mark.scale if own else getattr(mark, "decimal_places", None) or 0
        if precision is not None:
            if not 0 <= scale <= precision or precision < 1:
                raise NoSchemaError(path, f"a Decimal of {precision} digits can't have {scale} of them after the point")
            return scalars.decimal(precision, scale)
    return scalars.DECIMAL_TEXT


def _words(values: tuple[Any, ...], path: str) -> Shape:
    kinds = list(dict.fromkeys(type(value) for value in values))
    if any(kind not in {str, int, bool, bytes, type(None)} for kind in kinds):
        raise NoSchemaError(path, "a Literal of something else than str, int, bool, bytes and None")
    shapes: list[Shape] = []
    for kind in kinds:
        of = tuple(value for value in values if type(value) is kind)
        shapes.append(scalars.NULL if kind is type(None) else LiteralShape(of, scalars.SCALARS[kind]))
    return shapes[0] if len(shapes) == 1 else UnionShape(tuple(shapes))


def _name_of(hint: Any) -> str:
    return getattr(hint, "__name__", None) or str(hint)


def _spell_type(hint: Any) -> str:
    """A type as part of a name: with its arguments."""
    return "_".join([_name_of(get_origin(hint) or hint), *map(_spell_type, get_args(hint))])
