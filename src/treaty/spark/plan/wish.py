"""`Wish`: what a caller asks of a plan beyond its reader."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wish:
    """Levels to which a recursive reader is opened, and the Protobuf message to read (its full name, or ""). `defaults`: fields that know that
    they are not set have their default then, and not null.
    """

    depth: int = 3
    message: str = ""
    defaults: bool = False
