"""What a new version carries beside its text: metadata and rules, inherited, by default and by override; tags inside
the text.
"""

from collections.abc import Callable
from dataclasses import replace

from treaty.core.answers import Config
from treaty.core.handlers.drafts.schemas import (
    ParsedDraft,
    answers,
    follow,
    refuse,
    resolve_references,
    resolve_schema,
    with_extras,
)
from treaty.core.handlers.versions import StoredVersion, schema_row
from treaty.core.identity import VERSION_PROPERTY, Extras
from treaty.core.limits import RULE_NAME, RULES, TAGGED
from treaty.core.names import Subject
from treaty.core.refusals import Invalid, InvalidRules, TooLarge
from treaty.core.requests import Visible
from treaty.core.schema import Draft, Metadata, Rule, RuleSet, TaggedPath
from treaty.core.schema_engine import (
    Answer,
    FindTags,
    InvalidText,
    ResolvedSchema,
    RetaggedSchema,
    RetagSchema,
    SchemaEngine,
    TagsFound,
    bind_imports,
)
from treaty.core.state.values import Schema
from treaty.core.state.view import View

_MODES = {
    "migration": ("Migration", ("UPGRADE", "DOWNGRADE", "UPDOWN")),
    "domain": ("Domain", ("WRITE", "READ", "WRITEREAD")),
    "encoding": ("Encoding", ("WRITE", "READ", "WRITEREAD")),
}
_WORDS = {"kind": ("CONDITION", "TRANSFORM"), "mode": (*_MODES["migration"][1], *_MODES["domain"][1])}
"""What members of a rule may be at all; they may also be left out."""


def refuse_bad_rules(rules: RuleSet | None) -> None:
    """Raise `InvalidRules` for the first rule that can't be right, naming it; `Invalid` for a kind or mode that is none."""
    if rules is None:
        return
    names: set[str] = set()
    groups = {"migration": rules.migration, "domain": rules.domain, "encoding": rules.encoding}
    if sum(map(len, groups.values())) > RULES:
        raise InvalidRules.of("RULES", f"More than {RULES} rules in one rule set", allowed=f"at most {RULES}")
    for group, members in groups.items():
        for place, rule in enumerate(members):
            _refuse_unknown_words(rule, f"/ruleSet/{group}Rules/{place}")
    for group, members in groups.items():
        for place, rule in enumerate(members):
            problem = _name_problem(rule.name, names) or _rule_problem(rule, group)
            if problem:
                raise InvalidRules.of("RULE_INVALID", problem, path=f"/ruleSet/{group}Rules/{place}", new=rule.name)
            names.add(rule.name)


def _refuse_unknown_words(rule: Rule, path: str) -> None:
    for member, words in _WORDS.items():
        word = getattr(rule, member)
        if word and word not in words:
            raise Invalid.of(
                "RULE_WORD",
                f"The {member} of a rule is '{word}', which is none of {', '.join(words)}",
                path=f"{path}/{member}",
                new=word,
                allowed=", ".join(words),
            )


def _name_problem(name: str, names: set[str]) -> str:
    if not name:
        return "Missing rule name"
    if name in names:
        return f"Found rule with duplicate name '{name}'"
    if len(name) > RULE_NAME:
        return "Rule name too long"
    if not (name[0].isalpha() or name[0] == "_"):
        return f"Illegal initial character in rule name: {name[0]}"
    odd = next((char for char in name if not (char.isalnum() or char in "_-")), "")
    return f"Illegal character in rule name: {odd}" if odd else ""


def _rule_problem(rule: Rule, group: str) -> str:
    if not rule.type:
        return "Missing rule type"
    word, modes = _MODES[group]
    if rule.mode and rule.mode not in modes:
        return f"{word} rules can only be {', '.join(modes[:-1])}, {modes[-1]}"
    several = "," in rule.on_success or "," in rule.on_failure
    if several and rule.mode not in {"WRITEREAD", "UPDOWN"}:
        return "Multiple actions only valid with WRITEREAD and UPDOWN"
    return ""


def extras_of(view: View, latest: StoredVersion | None) -> Extras:
    """Return the metadata and rules of a version, from which a draft without any inherits them."""
    if latest is None:
        return None, None
    schema = schema_row(view, latest[0].context, latest[1].schema_id)
    return schema.metadata, schema.rules


def is_completing(config: Config) -> bool:
    """Return whether a config adds metadata or rules to every new version."""
    metadata, rules = (config.default_metadata, config.override_metadata), (config.default_rules, config.override_rules)
    return any(one is not None for one in (*metadata, *rules))


def complete(parsed: ParsedDraft, inherited: Extras, config: Config) -> ParsedDraft:
    """Return a draft as a registration completes it, with the metadata and rules of `metadata_for` and `rules_for`."""
    draft, (metadata, rules) = parsed.draft, inherited
    return with_extras(parsed, metadata_for(draft.metadata, metadata, config), rules_for(draft.rules, rules, config))


def metadata_for(sent: Metadata | None, last: Metadata | None, config: Config) -> Metadata | None:
    """Return the metadata of a new version: the sender's or else the last version's, over the defaults, under the
    overrides.
    """
    chosen = _metadata_over(config.default_metadata, last if sent is None else sent)
    return _metadata_over(chosen, config.override_metadata)


def rules_for(sent: RuleSet | None, last: RuleSet | None, config: Config) -> RuleSet | None:
    """Return the rules of a new version, by the same order as its metadata; rules are identified by name."""
    return rules_over(rules_over(config.default_rules, last if sent is None else sent), config.override_rules)


def with_number(parsed: ParsedDraft, number: Callable[[], int], *, requested: bool = False) -> ParsedDraft:
    """Return a draft whose metadata say the `number` that its version gets, where the request asks for it (`requested`) or
    the metadata have such a property already; else `number` is not called.
    """
    metadata = parsed.draft.metadata
    if not requested and (metadata is None or metadata.get(VERSION_PROPERTY) is None):
        return parsed
    metadata = metadata or Metadata()
    properties = {**dict(metadata.properties), VERSION_PROPERTY: str(number())}
    return with_extras(parsed, replace(metadata, properties=tuple(sorted(properties.items()))), parsed.draft.rules)


def _metadata_over(under: Metadata | None, over: Metadata | None) -> Metadata | None:
    if under is None or over is None:
        return over if under is None else under
    return Metadata(
        tuple(sorted({**dict(under.tags), **dict(over.tags)}.items())),
        tuple(sorted({**dict(under.properties), **dict(over.properties)}.items())),
        tuple(sorted({*under.sensitive, *over.sensitive})),
    )


def rules_over(under: RuleSet | None, over: RuleSet | None) -> RuleSet | None:
    """Return the rules of both; where names are equal those of `over` count, and stand after the others."""
    if under is None or over is None:
        return over if under is None else under
    return RuleSet(
        _by_name(under.migration, over.migration),
        _by_name(under.domain, over.domain),
        _by_name(under.encoding, over.encoding),
        over.enable_at or under.enable_at,
    )


def _by_name(under: tuple[Rule, ...], over: tuple[Rule, ...]) -> tuple[Rule, ...]:
    names = {rule.name for rule in over}
    return (*(rule for rule in under if rule.name not in names), *over)


EVERY_TAG = "*"
"""Stands for all tags, where tags are asked for by name."""


def retag_draft(
    view: View,
    subject: Subject,
    draft: Draft,
    engine: SchemaEngine,
    *,
    add: tuple[TaggedPath, ...],
    remove: tuple[TaggedPath, ...] = (),
    visible: Visible = "live",
    lenient: bool = False,
) -> Draft:
    """Return a draft with tags added to its text, then removed from it.

    Raises `InvalidSchema` for a path that leads nowhere (left out where `lenient`), with near ones, or for a text that
    does not parse; `TooLarge` past the limit.
    """
    if not (add or remove):
        return draft
    if len(add) + len(remove) > TAGGED and not lenient:
        raise TooLarge.of(
            "TAGGED", "Too many tags", new=f"{len(add) + len(remove)} places", allowed=f"at most {TAGGED} at once"
        )
    used = follow(view, subject, draft.references, visible)
    bound = (*resolve_references(view, subject.context, used), *bind_imports(draft.format, draft.imports))
    meaning = ResolvedSchema(draft.format, draft.text, bound)
    (answer,) = answers(engine, (RetagSchema(meaning, add, remove, lenient),))
    if isinstance(answer, InvalidText):
        raise refuse(answer, draft)
    assert isinstance(answer, RetaggedSchema)
    return replace(draft, text=answer.text, data=None)


def tags_in(view: View, context: str, schema: Schema, engine: SchemaEngine) -> tuple[TaggedPath, ...]:
    """Return what in a stored schema has tags; nothing for an unknown format."""
    if schema.format not in engine.formats:
        return ()
    answer: Answer
    (answer,) = answers(engine, (FindTags(resolve_schema(view, context, schema)),))
    return answer.tagged if isinstance(answer, TagsFound) else ()


def describe_tags(
    view: View, context: str, schema_id: int, engine: SchemaEngine, tags: tuple[str, ...]
) -> tuple[TaggedPath, ...]:
    """Return what in a schema has one of the wanted tags, with all its tags; ``*`` wants every tag."""
    if not tags:
        return ()
    tagged = tags_in(view, context, schema_row(view, context, schema_id), engine)
    return tuple(one for one in tagged if EVERY_TAG in tags or not set(tags).isdisjoint(one.tags))
