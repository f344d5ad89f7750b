"""Makes the page of the Python API from the signatures and docstrings of what programs import; `make.py` writes it."""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

import treaty
import treaty.arrow
import treaty.spark
import treaty.spark.iglu
from treaty.client import adapters, cache, cached_answers, connection, credentials, settings
from treaty.client.serializers import async_serializers, avro, errors, jsonschema, protobuf, subject_names
from treaty.client.serializers import settings as serializer_settings
from treaty.client.types import annotations, classes, typed
from treaty.client.types import errors as type_errors
from treaty.core import policy, refusals, registry, schema
from treaty.core.messages import (
    associations,
    compatibility,
    contexts,
    listings,
    outcomes,
    registration,
    schemas,
    versions,
)
from treaty.core.messages import settings as scope_settings
from treaty.core.messages.request import Request
from treaty.formats import registry as formats_registry
from treaty.metastore import metastore as metastore_calls
from treaty.metastore.execution import results as metastore_results
from treaty.names import PUBLIC
from treaty.testing import registry as testing_registry

ANSWERS = (schemas, versions, registration, compatibility, listings, scope_settings, contexts, associations, outcomes)
"""Answers, and what requests are made of, by area."""

SECTIONS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("Connect", "A registry by URL: a server, a file, a log, or memory.", (treaty,)),
    ("A connection", "`AsyncConnection`, for asyncio, has the same methods as coroutines.", (connection,)),
    (
        "The metastore",
        "`connection.metastore`; `AsyncMetastore`, for asyncio, has the same methods as coroutines.",
        (metastore_calls, metastore_results),
    ),
    ("Calls, drafts and answers", "What methods take and return.", (registry, schema, *ANSWERS, policy)),
    ("Errors", "All errors of a registry; `Refusal` and its subclasses have `reason`.", (refusals,)),
    ("Client settings", "Nodes, credentials and caches.", (settings, credentials, cache, cached_answers)),
    (
        "Serializers",
        "Values to framed bytes and back.",
        (avro, jsonschema, protobuf, serializer_settings, subject_names),
    ),
    ("Serializers for asyncio, confluent_kafka and aiokafka", "", (async_serializers, adapters, errors)),
    ("Python classes as schemas", "", (typed, classes, annotations, type_errors)),
    ("Spark", "Import these names from `treaty.spark`.", (treaty.spark,)),
    ("Self-describing events on Spark", "Import these names from `treaty.spark.iglu`.", (treaty.spark.iglu,)),
    ("Arrow, pandas and Polars", "Import these names from `treaty.arrow`.", (treaty.arrow,)),
    ("Formats", "Parse and compare schemas without a registry.", (formats_registry,)),
    ("Tests", "See [test programs](../howto/testing.md) for the fixtures of pytest.", (testing_registry,)),
)
_HEAD = (
    "# Python API",
    "",
    "What programs import, with the first sentences of the docstrings; `help(name)` prints all of them. Defaults that are objects are written `…`.",
    "",
    f"`from treaty import …` offers {', '.join(f'`{name}`' for name in PUBLIC)}. Other names are imported from the module that their heading names.",
)


STARS: Mapping[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def page() -> str:
    """Return the page."""
    lines = list(_HEAD)
    for title, about, modules in SECTIONS:
        lines += ["", f"## {title}", *(["", about] if about else [])]
        for module in modules:
            lines += _module(module)
    return "\n".join(lines) + "\n"


def _module(module: Any) -> Iterator[str]:
    members = [(name, getattr(module, name)) for name in _public(module)]
    functions = [(name, one) for name, one in members if inspect.isroutine(one)]
    types = [(name, one) for name, one in members if inspect.isclass(one)]
    errors = [(name, one) for name, one in types if issubclass(one, Exception)]
    if members:
        yield from ("", f"### `{module.__name__}`")
    if functions:
        yield from _table("function", ((f"{name}{_signature(one)}", _sentence(one)) for name, one in functions))
    if errors:
        yield from _table("error", ((name, _sentence(one)) for name, one in errors))
    plain = [(name, one) for name, one in types if not issubclass(one, Exception)]
    brief = [(name, one) for name, one in plain if not list(_methods(one))]
    if brief:
        yield from _table("class", ((f"{name}{_signature(one)}", _sentence(one)) for name, one in brief))
    for name, one in plain:
        methods = list(_methods(one))
        if methods:
            yield from ("", f"**`{name}{_signature(one)}`** {_sentence(one)}")
            yield from _table("method", methods)


def _public(module: Any) -> list[str]:
    """Names of what programs use: no requests, which methods of a connection make, and of policies the values alone."""
    listed = getattr(module, "__all__", None)
    if module is treaty:
        return ["connect", "connect_async"]
    if listed is not None:
        return list(listed)
    return [
        name
        for name, one in vars(module).items()
        if not name.startswith(("_", "refuse_"))
        and getattr(one, "__module__", None) == module.__name__
        and (inspect.isclass(one) or inspect.isfunction(one))
        and not (inspect.isclass(one) and issubclass(one, Request))
        and not (module is policy and inspect.isfunction(one))
        and one.__doc__
    ]


def _methods(kind: Any) -> Iterator[tuple[str, str]]:
    for name, one in vars(kind).items():
        if name == "__call__" and inspect.isfunction(one):
            yield f"{kind.__name__.lower()}{_signature(one)}", _sentence(one)
        elif not name.startswith("_") and (inspect.isfunction(one) or isinstance(one, classmethod | staticmethod)):
            inner = getattr(kind, name)
            yield f"{name}{_signature(inner)}", _sentence(inner)


def _signature(one: Any) -> str:
    """Names and defaults of the parameters, without their types; nothing for a protocol."""
    if getattr(one, "_is_protocol", False):
        return ""
    try:
        parameters = inspect.signature(one).parameters.values()
    except (TypeError, ValueError):
        return ""
    words: list[str] = []
    for each in parameters:
        if each.name in {"self", "cls"}:
            continue
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not any(word.startswith("*") for word in words):
            words.append("*")
        star = STARS.get(each.kind, "")
        words.append(
            f"{star}{each.name}" + ("" if each.default is inspect.Parameter.empty else f"={_default(each.default)}")
        )
    return f"({', '.join(words)})"


def _default(value: object) -> str:
    """A default that reads well, and is equal in every process."""
    plain = value is None or isinstance(value, str | int | float | bool) or value in ((), frozenset())
    text = repr(value)
    return text if plain and len(text) < 40 else "…"


def _sentence(one: Any) -> str:
    """The first sentence of a docstring; a class of data whose docstring is its signature has none."""
    text = " ".join((inspect.getdoc(one) or "").split())
    if is_dataclass(one) and text.startswith(f"{getattr(one, '__name__', '')}("):
        return ""
    return re.split(r"(?<=[.?])\s+(?=[A-Z`])", text, maxsplit=1)[0]


def _table(head: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield from ("", f"| {head} | |", "|---|---|")
    yield from (f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in rows)
