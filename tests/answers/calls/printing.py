"""Calls of single functions as lines: arguments, and what came back or was raised."""

import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import isgenerator
from typing import Any

from tests.answers.texts import print_refusal, print_value
from treaty.core.refusals import Refusal

FOREIGN = (TypeError, AttributeError, LookupError, UnicodeError, binascii.Error, json.JSONDecodeError)
"""Errors of Python, whose texts are others in other versions."""
SHORT = 50
"""Characters of arguments that are printed; of longer ones the beginning and a digest are."""


def print_result(function: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    """What a call returns, or the error that it raises."""
    try:
        result = function(*arguments, **named)
        result = tuple(result) if isgenerator(result) or isinstance(result, Iterator) else result
    except Refusal as refusal:
        return f"raises {' | '.join(print_refusal(refusal))}"
    except Exception as error:  # noqa: BLE001 (whatever it raises is what is recorded)
        return f"raises {type(error).__name__}{'' if isinstance(error, FOREIGN) else f': {error}'}"
    return print_mapping(result) if isinstance(result, Mapping) else print_value(result)


def print_mapping(mapping: Mapping[Any, Any]) -> str:
    """A mapping as text, in its own order."""
    return f"{{{', '.join(f'{print_value(key)}: {print_value(value)}' for key, value in mapping.items())}}}"


def print_call(function: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    """A line for a call: name, arguments and result."""
    words = ", ".join(
        [*map(print_value, arguments), *(f"{name}={print_value(value)}" for name, value in named.items())]
    )
    cut = words if len(words) <= 2 * SHORT else f"{words[:SHORT]}… {digest(words)}"
    return f"{function.__qualname__}({cut}) = {print_result(function, *arguments, **named)}"


def each(function: Callable[..., Any], arguments: Iterable[Any]) -> Iterator[str]:
    """A line for a call with each of these as its only argument; a tuple holds several."""
    for argument in arguments:
        yield print_call(function, *(argument if type(argument) is tuple else (argument,)))


def digest(text: str) -> str:
    """A few digits that stand for a long text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
