"""Records of the ``_schemas`` topic, both ways (source: the topic's layout in Confluent's registry, 5.x to 8.x).

A record is a key and a value, both JSON; a null value is a tombstone. Old keys and values (magic 0, without `deleted`,
`schemaType`, `ts` or `md5`) are read as they come. What is written is what an 8.x registry writes.
"""

import base64
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from treaty.core.messages.associations import TOPIC, Resource, ResourceAssociation
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import VersionFound
from treaty.wire.confluent.bodies import (
    MetadataBody,
    ReferenceBody,
    RuleSetBody,
    metadata_body,
    metadata_of,
    reference_bodies,
    references_of,
    rules_body,
    rules_of,
)
from treaty.wire.confluent.settings import ConfigBody, ModeBody, config_body, config_of, scope_of, scope_text

NOOP = b'{"keytype":"NOOP","magic":0}'
"""The key of a record that says nothing; its value is null."""


class RecordError(ValueError):
    """A record that can't be read; the message says why, and what was expected."""


class KeyBody(Struct, omit_defaults=True, rename="camel"):
    """A key; which members are there depends on its type."""

    keytype: str
    subject: str | None = None
    version: int | None = None
    magic: int | None = None
    tenant: str | None = None
    context: str | None = None
    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_type: str | None = None
    association_type: str | None = None


class SchemaRecord(Struct, omit_defaults=True, rename="camel"):
    """The value of a version; `md5` is the digest of its identity, in base64."""

    subject: str
    version: int
    id: int
    md5: str | None = None
    schema_type: str | None = None
    references: list[ReferenceBody | None] | None = None
    metadata: MetadataBody | None = None
    rule_set: RuleSetBody | None = None
    schema: str = ""
    deleted: bool | None = None
    ts: int | None = None


class AssociationRecordBody(Struct, omit_defaults=True, rename="camel"):
    """The value of an association."""

    subject: str | None = None
    guid: str | None = None
    tenant: str | None = None
    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    association_type: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None
    create_ts: int | None = None
    update_ts: int | None = None


class DeletionWatermark(Struct):
    """The value of a subject's deletion: versions up to this one are softly deleted."""

    subject: str
    version: int = 0


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """A version of a subject, or (`found` None) its end for good."""

    subject: str
    number: int
    found: VersionFound | None


@dataclass(frozen=True, slots=True)
class DeletedRecord:
    """All versions of a subject up to `number` are softly deleted."""

    subject: str
    number: int


@dataclass(frozen=True, slots=True)
class ClearedRecord:
    """Softly deleted versions of a scope are gone for good."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class ConfigRecord:
    """The config at a scope, or None where it was forgotten."""

    scope: Scope
    config: Config | None


@dataclass(frozen=True, slots=True)
class ModeRecord:
    """The mode at a scope, or None where it was forgotten."""

    scope: Scope
    mode: str | None


@dataclass(frozen=True, slots=True)
class ContextRecord:
    """A context that is there, or not any more."""

    context: str
    there: bool


@dataclass(frozen=True, slots=True)
class AssociationRecord:
    """An association, or (`found` None) its end. `place` is what its key says: namespace, name, kind, subject."""

    place: tuple[str, str, str, str]
    found: ResourceAssociation | None


@dataclass(frozen=True, slots=True)
class OtherRecord:
    """A record that says nothing (NOOP)."""

    kind: str
    tombstone: bool = False


Record = (
    VersionRecord
    | DeletedRecord
    | ClearedRecord
    | ConfigRecord
    | ModeRecord
    | ContextRecord
    | AssociationRecord
    | OtherRecord
)

_key = msgspec.json.Decoder(KeyBody)
_schema = msgspec.json.Decoder(SchemaRecord)
_watermark = msgspec.json.Decoder(DeletionWatermark)
_config = msgspec.json.Decoder(ConfigBody)
_mode = msgspec.json.Decoder(ModeBody)
_association = msgspec.json.Decoder(AssociationRecordBody)
_encode = msgspec.json.Encoder().encode


def record_of(key: bytes, value: bytes | None) -> Record:
    """Read a record. Raises `RecordError` where it is none that a registry writes."""
    try:
        return _record(_key.decode(key), None if value is None or value == b"null" else value)
    except RecursionError:
        message = "not JSON that can be read: it is nested too deep"
        raise RecordError(message) from None
    except msgspec.MsgspecError as error:
        message = f"not a record of a registry: {error}; the key is {key[:200]!r}"
        raise RecordError(message) from None


def _record(key: KeyBody, value: bytes | None) -> Record:
    match key.keytype:
        case "SCHEMA":
            return _version(key, value)
        case "CONFIG":
            return ConfigRecord(scope_of(key.subject), None if value is None else config_of(_config.decode(value)))
        case "MODE":
            mode = None if value is None else _mode.decode(value).mode
            return ModeRecord(scope_of(key.subject), mode if isinstance(mode, str) else None)
        case "DELETE_SUBJECT":
            mark = _watermark.decode(value) if value is not None else DeletionWatermark(key.subject or "")
            return DeletedRecord(key.subject or mark.subject, mark.version)
        case "CLEAR_SUBJECT":
            return (
                OtherRecord("CLEAR_SUBJECT", tombstone=True) if value is None else ClearedRecord(scope_of(key.subject))
            )
        case "CONTEXT":
            return ContextRecord(key.context or ".", value is not None)
        case "ASSOC":
            return _association_record(key, value)
        case "NOOP":
            return OtherRecord(key.keytype, value is None)
    message = f"unknown keytype {key.keytype!r}; expected SCHEMA, CONFIG, MODE, DELETE_SUBJECT, CLEAR_SUBJECT, CONTEXT, NOOP or ASSOC"
    raise RecordError(message)


def _version(key: KeyBody, value: bytes | None) -> VersionRecord:
    if not key.subject or key.version is None:
        message = "a key of a schema needs a subject and a version"
        raise RecordError(message)
    if value is None:
        return VersionRecord(key.subject, key.version, None)
    body = _schema.decode(value)
    version = VersionFound(
        subject=key.subject,
        number=key.version,
        ordinal=-1,
        schema_id=body.id,
        guid=_guid(body.md5),
        format=body.schema_type or "AVRO",
        text=body.schema,
        references=references_of(body.references),
        metadata=metadata_of(body.metadata),
        rules=rules_of(body.rule_set),
        time=body.ts or 0,
        deleted=bool(body.deleted),
    )
    return VersionRecord(key.subject, key.version, version)


def _association_record(key: KeyBody, value: bytes | None) -> AssociationRecord:
    place = (key.resource_namespace, key.resource_name, key.association_type, key.subject)
    if None in place:
        message = "a key of an association needs a resource with name and namespace, a type and a subject"
        raise RecordError(message)
    namespace, name, kind, subject = (part or "" for part in place)
    if value is None:
        return AssociationRecord((namespace, name, kind, subject), None)
    body = _association.decode(value)
    if not body.resource_id:
        message = "an association needs the id of its resource"
        raise RecordError(message)
    association = ResourceAssociation(
        subject=subject,
        guid=body.guid or "",
        resource=Resource(name, namespace, body.resource_id, key.resource_type or TOPIC),
        kind=kind,
        lifecycle=body.lifecycle or "WEAK",
        frozen=bool(body.frozen),
        created=body.create_ts or 0,
        updated=body.update_ts or 0,
    )
    return AssociationRecord((namespace, name, kind, subject), association)


def _guid(md5: str | None) -> str:
    """The guid whose bytes a record has in base64; empty without a valid one."""
    try:
        return str(UUID(bytes=base64.b64decode(md5, validate=True))) if md5 else ""
    except ValueError:
        return ""


def version_record(version: VersionFound) -> tuple[bytes, bytes]:
    """Key and value of a version."""
    key = {"keytype": "SCHEMA", "subject": version.subject, "version": version.number, "magic": 1}
    value = SchemaRecord(
        subject=version.subject,
        version=version.number,
        id=version.schema_id,
        md5=base64.b64encode(UUID(version.guid).bytes).decode() if version.guid else None,
        schema_type=None if version.format == "AVRO" else version.format,
        references=reference_bodies(version.references),
        metadata=metadata_body(version.metadata),
        rule_set=rules_body(version.rules),
        schema=version.text,
        deleted=version.deleted,
        ts=version.time or None,
    )
    return _encode(key), _encode(value)


def config_record(scope: Scope, config: Config) -> tuple[bytes, bytes]:
    """Key and value of a config."""
    body: dict[str, Any] = msgspec.to_builtins(config_body(config))
    subject = scope_text(scope)
    return _setting("CONFIG", subject), _encode({**({"subject": subject} if subject else {}), **body})


def mode_record(scope: Scope, mode: str) -> tuple[bytes, bytes]:
    """Key and value of a mode."""
    subject = scope_text(scope)
    return _setting("MODE", subject), _encode({**({"subject": subject} if subject else {}), "mode": mode})


def context_record(context: str) -> tuple[bytes, bytes]:
    """Key and value of a context."""
    key = {"keytype": "CONTEXT", "tenant": "default", "context": context, "magic": 0}
    return _encode(key), _encode({"tenant": "default", "context": context})


def association_record(association: ResourceAssociation) -> tuple[bytes, bytes]:
    """Key and value of an association."""
    resource = association.resource
    key = {
        "keytype": "ASSOC",
        "tenant": "default",
        "resourceName": resource.name,
        "resourceNamespace": resource.namespace,
        "resourceType": resource.type,
        "associationType": association.kind,
        "subject": association.subject,
        "magic": 0,
    }
    value = AssociationRecordBody(
        subject=association.subject,
        guid=association.guid or None,
        tenant="default",
        resource_name=resource.name,
        resource_namespace=resource.namespace,
        resource_id=resource.id,
        resource_type=resource.type,
        association_type=association.kind,
        lifecycle=association.lifecycle,
        frozen=association.frozen,
        create_ts=association.created or None,
        update_ts=association.updated or None,
    )
    return _encode(key), _encode(value)


def _setting(kind: str, subject: str | None) -> bytes:
    return _encode({"keytype": kind, "subject": subject, "magic": 0})
