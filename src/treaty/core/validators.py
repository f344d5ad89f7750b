"""Validators as a policy names them: a name, with parameters in parentheses, such as ``documentation(type,field)``."""

import re
from dataclasses import dataclass

POLICY = "policy:"
"""Prefix of a validator that compares by a policy, before the policy's name."""
LINT = "lint:"
"""Prefix of a validator that is a lint, before the lint's id; the id alone names it too."""
WRITTEN = "a name, with parameters in parentheses where it has any, such as documentation(type,field)"
"""How a validator is written, for refusals."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]*")
_CALL = re.compile(rf"({_NAME.pattern})(?:\(([^()]*)\))?")
_LISTED = re.compile(r"[^,()]*\([^()]*\)[^,()]*|[^,]+")


@dataclass(frozen=True, slots=True)
class ValidatorCall:
    """A validator with its parameters, in order."""

    name: str
    parameters: tuple[str, ...] = ()


def parse_validator(text: str) -> ValidatorCall:
    """Parse a validator as a policy names it; raises `ValueError` for what is none."""
    written = _CALL.fullmatch(text.strip())
    if written is None:
        message = f"{text[:100]!r} is no validator; it is written as {WRITTEN}"
        raise ValueError(message)
    name, listed = written.groups()
    return ValidatorCall(name, tuple(part for part in map(str.strip, (listed or "").split(",")) if part))


def name_of_validator(text: str) -> str:
    """Return the name of a validator without its parameters; of what is none the text itself."""
    return text.partition("(")[0].strip()


def split_validators(text: str) -> tuple[str, ...]:
    """Return the validators of a list with commas between them; those inside parentheses belong to a validator."""
    return tuple(one for one in map(str.strip, _LISTED.findall(text)) if one)


def named_policies(validators: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the names of the policies by which validators compare, each once."""
    names = (name_of_validator(one) for one in validators or ())
    return tuple(dict.fromkeys(name.removeprefix(POLICY) for name in names if name.startswith(POLICY)))
