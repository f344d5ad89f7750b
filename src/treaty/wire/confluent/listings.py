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


class ContextBody(Struct, omit_defaults=True, rename="camel"):
    """A context to be made, or that was made: the highest id that counts as given, and in an answer its name."""

    context: str = ""
    highest_id: int = 0


class OutcomeBody(Struct, omit_defaults=True, rename="camel"):
    """What became of a command."""

    command: str
    sequence: int
    result: str = ""
    members: dict[str, str] = {}
