"""The parameter `format` of a request: a schema printed in another way than it is stored, by the views of its format; one that can't be
printed so is refused.
"""

import asyncio
import re
from dataclasses import replace
from typing import TypeVar

from treaty.api.confluent.exchange import ConfluentExchange
from treaty.core.messages.schemas import SchemaFound
from treaty.core.messages.versions import VersionFound
from treaty.core.names import DEFAULT_CONTEXT, subject_of
from treaty.core.refusals import RegistryError
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import find_formats
from treaty.wire.confluent.versions import SchemaBody
from treaty.wire.references import VIEW_BYTES, KnownSchemas, resolve_schema

F = TypeVar("F", SchemaFound, VersionFound)

formats = find_formats

SERIALIZED = "serialized"
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")


def as_posted(text: str) -> str:
    """The view in which a text was posted: a Protobuf descriptor in base64 is ``serialized``, else none.

    Its sender keeps the answer to a registration and reads it again where it asked for descriptors.
    """
    return SERIALIZED if _BASE64.fullmatch(text) else ""


def qualify_references(x: ConfluentExchange, body: SchemaBody, context: str) -> SchemaBody:
    """Write out the subjects of references where ``referenceFormat=qualified`` asks for it; `context` is the schema's."""
    if x.query.get("referenceFormat", "reference_format") == "qualified" and context != DEFAULT_CONTEXT:
        for reference in body.references or ():
            if reference is not None and reference.subject:
                reference.subject = str(subject_of(reference.subject, context))
    return body


async def apply_view(x: ConfluentExchange, schema: F, usual: str = "") -> F:
    """Return an answer with its text as ``format=`` asks, or in the `usual` view where nothing is asked:
    ``resolved`` has every reference inlined.

    A view that the schema's format does not have is ignored, as in the original, and so is one of a text that was kept
    before there was a plug-in to read it, and that the plug-in can't read.
    """
    name = x.query.get("format") or usual
    form = formats().find(schema.format) if name else None
    view = form.views.get(name) if form else None
    if form is None or view is None:
        return schema
    known_schemas: KnownSchemas = {}
    meaning = await resolve_schema(x.registry.shared, x.registry.call, schema, known_schemas)
    size = len(schema.text) + sum(len(known_schema.text) for known_schema in known_schemas.values())
    parse = form.parse

    def print_it() -> str:
        try:
            return view(parse(meaning, False))
        except InvalidSchemaError:
            return schema.text

    return replace(schema, text=print_it() if size <= VIEW_BYTES else await asyncio.to_thread(print_it))


async def try_view(x: ConfluentExchange, version: VersionFound, usual: str = "") -> VersionFound:
    """The same for what has been written: a view that can't be had now, or not by who asks, makes no refusal of it."""
    try:
        return await apply_view(x, version, usual)
    except RegistryError:
        return version
