"""What a new version carries beside its text: metadata and rules, inherited, by default and by override."""

from collections.abc import Callable
from dataclasses import replace

from treaty.core.answers import Config
from treaty.core.identity import VERSION_PROPERTY
from treaty.core.schema import Metadata, Rule, RuleSet


def metadata_for(
    sent: Metadata | None, last: Metadata | None, config: Config, number: Callable[[], int], *, asked: bool = False
) -> Metadata | None:
    """Return the metadata of a new version: the sender's or else the last version's, over the defaults, under the
    overrides. Its `number` is kept as a property where the sender `asked` for one, or such a property is there already;
    else it is not called.
    """
    chosen = _metadata_over(config.default_metadata, sent if sent is not None else last)
    chosen = _metadata_over(chosen, config.override_metadata)
    if asked or (chosen is not None and chosen.get(VERSION_PROPERTY) is not None):
        chosen = chosen or Metadata()
        properties = {**dict(chosen.properties), VERSION_PROPERTY: str(number())}
        chosen = replace(chosen, properties=tuple(sorted(properties.items())))
    return chosen


def _metadata_over(under: Metadata | None, over: Metadata | None) -> Metadata | None:
    if under is None or over is None:
        return over if under is None else under
    return Metadata(
        tuple(sorted({**dict(under.tags), **dict(over.tags)}.items())),
        tuple(sorted({**dict(under.properties), **dict(over.properties)}.items())),
        tuple(sorted({*under.sensitive, *over.sensitive})),
    )


def rules_for(sent: RuleSet | None, last: RuleSet | None, config: Config) -> RuleSet | None:
    """Return the rules of a new version, by the same order as its metadata; rules are told apart by name."""
    return rules_over(rules_over(config.default_rules, sent if sent is not None else last), config.override_rules)


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
