"""Small bodies of answers: uses and places of a schema, outcomes of commands."""

from msgspec import Struct


class UseBody(Struct):
    """One use of a schema, in an answer."""

    subject: str
    version: int


class PlaceBody(Struct):
    """One id of a guid, in an answer."""

    context: str
    id: int


class OutcomeBody(Struct, omit_defaults=True, rename="camel"):
    """What became of a command."""

    command: str
    sequence: int
    result: str = ""
    members: dict[str, str] = {}
