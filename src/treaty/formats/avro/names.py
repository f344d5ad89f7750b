"""Names of types, fields and symbols: what is a legal one, and how a name in a text becomes a full name."""

import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_name(name: str) -> bool:
    """Tell whether `name` is legal as the Java library sees it: letters, digits and underscore of any script.

    A letter beyond the basic plane is not one there, because Java looks at halves of its surrogate pair.
    """
    if _PLAIN.fullmatch(name):
        return True
    if not name or name[0].isdecimal():
        return False
    return all((char.isalpha() or char.isdecimal() or char == "_") and char <= "\uffff" for char in name)


def full_name(name: str, space: str | None) -> str:
    """The full name of a type called `name` where `space` is the namespace in force; a dotted name has its own."""
    head, dot, last = name.rpartition(".")
    if not dot:
        return f"{space}.{name}" if space else name
    return name if head else last


def illegal_part(full: str) -> str | None:
    """The first part of a full name that is not legal, or None."""
    if "." not in full:
        return None if is_name(full) else full
    return next((part for part in full.split(".") if not is_name(part)), None)
