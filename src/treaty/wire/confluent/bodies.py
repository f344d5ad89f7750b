"""Parts of bodies: references, metadata and rules, read from JSON and printed to it.

Members that are absent or null mean the same, unknown ones are ignored, empty ones are not printed.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated

from msgspec import Meta, Struct

from treaty.core.schema import Metadata, Pairs, Reference, Rule, RuleSet, TaggedPath

Integer = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A number as Java's clients and servers read it: of 32 bits."""


class ReferenceBody(Struct, omit_defaults=True):
    """A reference to another schema."""

    name: str | None = None
    subject: str | None = None
    version: Integer | None = None


class MetadataBody(Struct, omit_defaults=True):
    """Metadata of a schema."""

    tags: dict[str, list[str] | None] | None = None
    properties: dict[str, str | None] | None = None
    sensitive: list[str] | None = None


class RuleBody(Struct, omit_defaults=True, rename="camel"):
    """One rule of a rule set."""

    name: str | None = None
    doc: str | None = None
    kind: str | None = None
    mode: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    params: dict[str, str | None] | None = None
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool | None = None


class RuleSetBody(Struct, omit_defaults=True, rename="camel"):
    """The rule set of a schema."""

    migration_rules: list[RuleBody] | None = None
    domain_rules: list[RuleBody] | None = None
    encoding_rules: list[RuleBody] | None = None
    enable_at: str | None = None


class EntityBody(Struct, omit_defaults=True, rename="camel"):
    """Something inside a schema that can have tags."""

    entity_path: str | None = None
    entity_type: str | None = None


class TagsBody(Struct, omit_defaults=True, rename="camel"):
    """Tags of something inside a schema."""

    schema_entity: EntityBody | None = None
    tags: list[str] | None = None


def tagged_of(bodies: Iterable[TagsBody | None] | None) -> tuple[TaggedPath, ...]:
    """Read tags; a path or kind that is missing comes out empty, which the handler refuses."""
    tags_of_entities = [
        (body.schema_entity or EntityBody(), body.tags or ()) for body in bodies or () if body is not None
    ]
    return tuple(
        TaggedPath(entity.entity_path or "", (entity.entity_type or "").lower(), tuple(dict.fromkeys(tags)))
        for entity, tags in tags_of_entities
    )


def tags_bodies(tagged: Iterable[TaggedPath]) -> list[TagsBody | None] | None:
    """Print tags; None where there are none."""
    return [TagsBody(EntityBody(each.path, each.kind), list(each.tags)) for each in tagged] or None


def pairs_of(members: Mapping[str, str | None] | None) -> Pairs:
    """Read a JSON object of strings; members that are null are left out."""
    return tuple(sorted((key, value) for key, value in (members or {}).items() if value is not None))


def object_of(pairs: Pairs) -> dict[str, str | None] | None:
    """Print pairs as a JSON object; None where there are none."""
    return {key: value for key, value in pairs} or None  # noqa: C416 (dict() would fix the type of its values)


def references_of(bodies: Iterable[ReferenceBody | None] | None) -> tuple[Reference, ...]:
    """Read references; a member that is missing comes out empty, which the handler refuses."""
    reference_bodies = (body or ReferenceBody() for body in bodies or ())
    return tuple(Reference(body.name or "", body.subject or "", body.version or 0) for body in reference_bodies)


def reference_bodies(references: Iterable[Reference]) -> list[ReferenceBody | None] | None:
    """Print references; None where there are none."""
    return [ReferenceBody(each.name, each.subject, each.version) for each in references] or None


def metadata_of(body: MetadataBody | None) -> Metadata | None:
    """Read metadata: tags, properties and sensitive names are sets and come out sorted."""
    if body is None:
        return None
    tags = tuple(sorted((path, tuple(sorted(set(names or ())))) for path, names in (body.tags or {}).items()))
    return Metadata(tags, pairs_of(body.properties), tuple(sorted(set(body.sensitive or ()))))


def metadata_body(metadata: Metadata | None) -> MetadataBody | None:
    """Print metadata."""
    if metadata is None:
        return None
    return MetadataBody(
        {path: list(names) for path, names in metadata.tags} or None,
        object_of(metadata.properties),
        list(metadata.sensitive) or None,
    )


def rules_of(body: RuleSetBody | None) -> RuleSet | None:
    """Read a rule set; a name that is missing comes out empty, which the handler refuses."""
    if body is None:
        return None
    groups = (body.migration_rules, body.domain_rules, body.encoding_rules)
    migration, domain, encoding = (tuple(map(_rule, group or ())) for group in groups)
    return RuleSet(migration, domain, encoding, body.enable_at or "")


def _rule(body: RuleBody) -> Rule:
    return Rule(
        name=body.name or "",
        kind=body.kind or "",
        mode=body.mode or "",
        type=body.type or "",
        doc=body.doc or "",
        tags=tuple(sorted(set(body.tags or ()))),
        params=pairs_of(body.params),
        expr=body.expr or "",
        on_success=body.on_success or "",
        on_failure=body.on_failure or "",
        disabled=bool(body.disabled),
    )


def rules_body(rules: RuleSet | None) -> RuleSetBody | None:
    """Print a rule set."""
    if rules is None:
        return None
    return RuleSetBody(
        [_rule_body(rule) for rule in rules.migration] or None,
        [_rule_body(rule) for rule in rules.domain] or None,
        [_rule_body(rule) for rule in rules.encoding] or None,
        rules.enable_at or None,
    )


def _rule_body(rule: Rule) -> RuleBody:
    return RuleBody(
        rule.name,
        rule.doc or None,
        rule.kind or None,
        rule.mode or None,
        rule.type or None,
        list(rule.tags) or None,
        object_of(rule.params),
        rule.expr or None,
        rule.on_success or None,
        rule.on_failure or None,
        rule.disabled,
    )
