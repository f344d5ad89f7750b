"""From a schema and columns to a plan, for each format; no registry is asked."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from google.protobuf.descriptor_pool import DescriptorPool

from treaty.client.serializers.frames import encode_guid, encode_id
from treaty.client.serializers.message_indexes import encode_path
from treaty.client.serializers.protobuf import messages
from treaty.core.state.columns import Column
from treaty.formats.avro.canonical import print_schema
from treaty.formats.jsonschema.format import FORMAT as JSON
from treaty.formats.protobuf.encoding.files import build_descriptor_set
from treaty.plan.ddl import type_ddl
from treaty.plan.encoding import avro, documents
from treaty.plan.encoding import messages as protobuf
from treaty.plan.encoding.pairing import pair
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.encoding.wish import EncodeWish
from treaty.plan.known import Known
from treaty.plan.reasons import PlanError


def compose(known: Known, columns: Sequence[Column], wish: EncodeWish) -> EncodePlan:
    """The plan for rows of these columns under a schema. Raises `PlanError` with what does not go together."""
    composer = _COMPOSERS.get(known.format)
    if composer is None or known.schema is None:
        raise PlanError(f"rows can't be encoded as {known.format}; as {', '.join(sorted(_COMPOSERS))} they can")
    if wish.message and known.format != "PROTOBUF":
        raise PlanError(
            f"message = {wish.message!r} is for PROTOBUF, and the rows to write are {known.format}; leave it out"
        )
    if wish.validate and known.format != "JSON":
        raise PlanError(f"{known.format} is checked while it is written; only JSON is validated on request")
    made = composer(known, columns, wish)
    front = encode_guid(known.guid) if wish.framing == "header" and known.guid else encode_id(known.schema_id)
    return replace(made, head=front.hex() + made.head)


def _plan(known: Known, columns: Sequence[Column], wish: EncodeWish, **parts: object) -> EncodePlan:
    return EncodePlan(
        subject=known.subject,
        version=known.version,
        schema_id=known.schema_id,
        format=known.format,
        columns=tuple((one.name, type_ddl(one.type)) for one in columns),
        framing=wish.framing,
        part=wish.part,
        validate=wish.validate,
        **{"head": "", **parts},  # type: ignore[arg-type]  # by name, from the functions below
    )


def _avro(known: Known, columns: Sequence[Column], wish: EncodeWish) -> EncodePlan:
    fit = pair(columns, avro.look(known.schema), known.schema.root, wish.lossy)
    return _plan(known, columns, wish, text=print_schema(known.schema), fit=fit)


def _protobuf(known: Known, columns: Sequence[Column], wish: EncodeWish) -> EncodePlan:
    paths = {name: path for path, name in messages(known.schema).items()}
    name = wish.message.removeprefix(".") or next(iter(paths), "")
    if name not in paths:
        had = ", ".join(sorted(paths)[:20]) or "none"
        raise PlanError(f"the schema has no message {name!r}; it has {had}")
    files = [one.SerializeToString(deterministic=True) for one in build_descriptor_set(known.schema).file]
    pool = DescriptorPool()
    for one in files:
        pool.AddSerializedFile(one)
    fit = pair(columns, protobuf.look(known.schema), pool.FindMessageTypeByName(name), wish.lossy)
    stored = tuple(base64.b64encode(one).decode() for one in files)
    return _plan(
        known, columns, wish, text="", fit=fit, message=name, files=stored, head=encode_path(paths[name]).hex()
    )


def _json(known: Known, columns: Sequence[Column], wish: EncodeWish) -> EncodePlan:
    look, root = documents.look(known.schema)
    fit = pair(columns, look, root, wish.lossy)
    return _plan(known, columns, wish, text=JSON.show(known.schema, False).resolved, fit=fit)


_COMPOSERS: Mapping[str, Callable[[Known, Sequence[Column], EncodeWish], EncodePlan]] = {
    "AVRO": _avro,
    "PROTOBUF": _protobuf,
    "JSON": _json,
}
"""By format."""
