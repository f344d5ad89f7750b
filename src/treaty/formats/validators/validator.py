"""`Validator`: a named requirement on new schemas as a record of functions, and the schemas that it looks at."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from treaty.core.finding import Diagnostic
from treaty.formats.format import SchemaElement


@dataclass(frozen=True, slots=True)
class ValidatedSchema:
    """A schema that a validator looks at: its text as sent, for an earlier version in canonical form, and its metadata.

    `number` is that of an earlier version, and 0 for the new schema. `elements` returns the types, fields and other named
    parts of the text, in its order; it raises `InvalidSchemaError` for an earlier version that can't be read.
    """

    format: str
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    number: int = 0
    elements: Callable[[], Iterable[SchemaElement]] = tuple


Versions = tuple[ValidatedSchema, ...]
"""Earlier versions, the newest first."""
Parameters = tuple[str, ...]
"""The words in the parentheses."""


def refuse_parameters(parameters: Parameters) -> None:
    """Raise `ValueError` for parameters of a validator that takes none."""
    if parameters:
        message = "it takes no parameters"
        raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Validator:
    """A requirement on new schemas.

    - ``find(schema, versions, parameters)``: a `Diagnostic` for each place that breaks the requirement; pure.
      `versions` are the earlier versions that the policy compares with, the newest first.
    - ``check(parameters)``: raises `ValueError` for parameters that it can't have; asked when a policy is set.
    - ``parses``: whether it looks at elements; such a validator refuses texts of a format without a plug-in.
    - ``reads_versions``: whether it looks at earlier versions, which are read for it.
    """

    name: str
    purpose: str
    find: Callable[[ValidatedSchema, Versions, Parameters], Iterable[Diagnostic]]
    check: Callable[[Parameters], object] = refuse_parameters
    parses: bool = True
    reads_versions: bool = False
    written: str = ""
    """How it is written with parameters, for lists; empty: its name alone."""


def pairs_of(parameters: Parameters, keys: Iterable[str], values: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Return parameters of the form ``key=value``; raises `ValueError` for another key, value or form, and for none."""
    if not parameters:
        message = f"it needs parameters such as {next(iter(keys))}={next(iter(values))}"
        raise ValueError(message)
    for parameter in parameters:
        key, _, value = (part.strip() for part in parameter.partition("="))
        yield _one_of(key, keys), _one_of(value, values)


def words_of(parameters: Parameters, words: Iterable[str]) -> Parameters:
    """Return parameters that are among these words; raises `ValueError` for others."""
    return tuple(_one_of(one, words) for one in parameters)


def number_of(parameters: Parameters) -> int:
    """Return the one parameter, a number from 1 on; raises `ValueError`."""
    if len(parameters) != 1 or not parameters[0].isascii() or not parameters[0].isdecimal() or int(parameters[0]) < 1:
        message = "it needs one parameter, a number from 1 on"
        raise ValueError(message)
    return int(parameters[0])


def _one_of(word: str, words: Iterable[str]) -> str:
    allowed = [*words]
    if word not in allowed:
        message = f"{word!r} is not one of {', '.join(allowed)}"
        raise ValueError(message)
    return word
