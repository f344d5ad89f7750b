"""What a table of routes is made of: operations with their endpoints, parameters and answers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Endpoint = Callable[..., Awaitable[Any]]
"""What answers a request; it takes the exchange of its dialect."""
Kind = Literal["boolean", "integer", "string"]
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ApiParameter:
    """A member of a path or of a query. `also` are other names under which it is read; `choices` the words it may be."""

    name: str
    says: str
    kind: Kind = "string"
    example: object = None
    default: object = None
    repeated: bool = False
    also: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    full_schema: Schema | None = None
    """Its whole JSON Schema, where the members above can't say it."""

    @property
    def schema(self) -> Schema:
        """Its JSON Schema."""
        if self.full_schema is not None:
            return self.full_schema
        schema: Schema = {"type": self.kind}
        if self.kind == "integer":
            schema["format"] = "int32"
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.default is not None:
            schema["default"] = self.default
        return {"type": "array", "items": schema} if self.repeated else schema


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """What is answered when all is well. `kind` is a type that msgspec prints, None where there is no body."""

    says: str
    kind: Any = None
    status: int = 200
    needed: tuple[str, ...] = ()
    """Members that this route always prints, of those that its type may have."""
    example: object = None
    schema: Schema | None = None
    """Its whole JSON Schema, where no type says it."""
    media: str = ""
    """Its media type, where it is not one of the dialect's."""
    also: Mapping[str, Schema] = field(default_factory=dict)
    """JSON Schemas of the same answer in further media types."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What its own headers mean, by name."""


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One method of one path. `path` are the open segments in order; `errors` are codes beside those of every route."""

    endpoint: Endpoint | None
    """Its docstring says what the operation does; None for a page of the description itself, where `says` does."""
    group: str
    answer: ApiAnswer
    path: tuple[ApiParameter, ...] = ()
    query: tuple[ApiParameter, ...] = ()
    sent: Any = None
    sent_example: object = None
    errors: tuple[int, ...] = ()
    writes: bool = False
    sent_as: Mapping[str, Schema] = field(default_factory=dict)
    """JSON Schemas of a body by media type, where no type describes it; without one of a string the body is optional."""

    says: str = ""

    @property
    def text(self) -> str:
        """What the operation does, as its endpoint says."""
        return self.says or " ".join((self.endpoint.__doc__ or "").split())


Table = Mapping[str, Mapping[str, ApiOperation]]
"""Operations by path (open segments are ``{}``) and method."""


@dataclass(frozen=True, slots=True)
class ApiDescription:
    """A dialect beside Confluent's, with its own body of errors. `errors` of its operations are statuses."""

    name: str
    groups: Mapping[str, str]
    """Groups of routes in the order in which they are shown, each with a sentence."""
    table: Table
    error: Any
    """The type of the body of errors, which msgspec prints."""
    error_example: object
    statuses: Mapping[int, str]
    """Meanings of statuses that differ from those of Confluent's dialect."""
    media: str = "application/json"
    text: str = ""
    """The media type of errors that are a text, where a request accepts that."""


def flag(name: str, says: str, *also: str) -> ApiParameter:
    """A parameter that is off unless it is ``true``."""
    return ApiParameter(name, says, "boolean", default=False, also=also)


AVRO = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
"""An example of a schema."""
