"""JSON Schemas of bodies, made by msgspec from the types that read and print them.

A type is described twice: as sent (members that are not known are ignored, null is as good as absent) and as answered
(no other members than these; null only where a type prints it). The two have different names: ``SchemaRequest`` and ``Schema``.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import inspect

from treaty.api.dialects.description import ApiAnswer, ApiOperation, Schema
from treaty.wire.confluent.errors import ErrorBody

PLACE = "#/components/schemas/"


def shapes(
    operations: Iterable[ApiOperation], errors: tuple[Any, ...] = ()
) -> tuple[dict[int, Schema], dict[int, Schema], dict[str, Schema]]:
    """Return the schema of each operation's body and of each one's answer, by the operation's identity, and all that
    they refer to, by name. `errors` are bodies of errors of further dialects.
    """
    listed = list(operations)
    sent = [operation for operation in listed if operation.sent is not None]
    answering = [operation for operation in listed if operation.answer.kind is not None]
    bodies, needs = _components([operation.sent for operation in sent], "Request")
    answers, parts = _components([ErrorBody, *errors, *(operation.answer.kind for operation in answering)], "")
    omitting = set(_list_omitting([operation.answer.kind for operation in answering] + [ErrorBody, *errors]))
    closed = {name: _close_object(part, omits_defaults=name in omitting) for name, part in parts.items()}
    return (
        {id(operation): body for operation, body in zip(sent, bodies, strict=True)},
        {
            id(operation): _require_members(operation.answer, answer)
            for operation, answer in zip(answering, answers[1 + len(errors) :], strict=True)
        },
        dict(sorted((needs | closed).items())),
    )


def _components(kinds: list[Any], suffix: str) -> tuple[list[Schema], dict[str, Schema]]:
    """Ask msgspec; names lose their ``Body`` and get a suffix."""
    template = f"{PLACE}{{name}}{suffix}"
    schemas, parts = msgspec.json.schema_components(kinds, ref_template=template)

    def name_part(name: str) -> str:
        return f"{_name_component(name.removesuffix(suffix) if suffix else name)}{suffix}"

    def rename_parts(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: f"{PLACE}{name_part(part.removeprefix(PLACE))}" if key == "$ref" else rename_parts(part)
                for key, part in value.items()
                if key != "title"
            }
        return [rename_parts(part) for part in value] if isinstance(value, list) else value

    renamed_parts = {name_part(name): rename_parts(part) for name, part in parts.items()}
    return [rename_parts(schema) for schema in schemas], renamed_parts


def _name_component(name: str) -> str:
    return name.removesuffix("Body")


def _list_omitting(kinds: Sequence[Any]) -> Iterator[str]:
    """Yield the names of the components that are printed without the members that have their defaults."""
    waiting: list[Any] = [*inspect.multi_type_info(kinds)]
    passed = set[type]()
    while waiting:
        info = waiting.pop()
        if isinstance(info, list | tuple):
            waiting += info
        elif isinstance(info, inspect.StructType):
            if info.cls not in passed:
                passed.add(info.cls)
                waiting += [member.type for member in info.fields]
                if info.cls.__struct_config__.omit_defaults:
                    yield _name_component(info.cls.__name__)
        elif isinstance(info, inspect.Type):
            waiting += [getattr(info, member) for member in info.__struct_fields__]


def _close_object(part: Schema, *, omits_defaults: bool) -> Schema:
    """Leave out members that are not named, and null where it is never printed.

    It is printed for a member that has no default, and for one whose default it is, unless the type leaves out such members.
    """
    required = part.get("required", ())

    def prints_null(name: str, member: Schema) -> bool:
        return name in required or (not omits_defaults and member.get("default", "") is None)

    members = {
        name: {
            key: value if key == "anyOf" else _close_value(value) for key, value in member.items() if key != "default"
        }
        if prints_null(name, member)
        else _close_value(member)
        for name, member in part.get("properties", {}).items()
    }
    closed: Schema = _close_value({key: value for key, value in part.items() if key != "properties"})
    return {**closed, "properties": members, "additionalProperties": False} if "properties" in part else closed


def _close_value(value: Any) -> Any:
    """Leave out null, which is read and never printed."""
    if isinstance(value, list):
        return [_close_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    kinds = value.get("anyOf")
    if isinstance(kinds, list) and {"type": "null"} in kinds:
        rest = [kind for kind in kinds if kind != {"type": "null"}]
        other_members = {key: member for key, member in value.items() if key not in {"anyOf", "default"}}
        return _close_value({**other_members, **(rest[0] if len(rest) == 1 else {"anyOf": rest})})
    return {key: _close_value(member) for key, member in value.items()}


def _require_members(answer: ApiAnswer, schema: Schema) -> Schema:
    """Say which members this route always prints."""
    if not answer.needed:
        return schema
    needed = {"required": list(answer.needed)}
    if schema.get("type") == "array":
        return {**schema, "items": {"allOf": [schema["items"], needed]}}
    return {"allOf": [schema, needed]}
