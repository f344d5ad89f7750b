"""Names that a compiler derives from other names."""


def json_name(name: str) -> str:
    """A field's name in JSON: without underscores, the letter after each in upper case."""
    if "_" not in name:
        return name
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def entry_name(name: str) -> str:
    """The name of the message that stands for an entry of the map field `name`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Entry"


def synthetic_name(name: str, taken: set[str]) -> str:
    """The name of the oneof that stands for a proto3 field with the label ``optional``."""
    made = name if name.startswith("_") else f"_{name}"
    while made in taken:
        made = f"X{made}"
    return made
