"""Rules of data contracts: which rule sets are right, and how two become one."""

from tests.simulation.judging.model.refusing import No
from treaty.core.limits import RULE_NAME, RULES
from treaty.core.refusals import Invalid, InvalidRules
from treaty.core.schema import Rule, RuleSet

CHANGES = ("UPGRADE", "DOWNGRADE", "UPDOWN")
USES = ("WRITE", "READ", "WRITEREAD")


def refuse_bad_rules(rules: RuleSet | None) -> None:
    if rules is None:
        return
    groups = (("migration", rules.migration), ("domain", rules.domain), ("encoding", rules.encoding))
    every = [(group, place, rule) for group, members in groups for place, rule in enumerate(members)]
    if len(every) > RULES:
        raise No(InvalidRules, "RULES")
    for _, _, rule in every:
        if rule.kind not in {"", "CONDITION", "TRANSFORM"} or rule.mode not in {"", *CHANGES, *USES}:
            raise No(Invalid, "RULE_WORD")
    names: list[str] = []
    for group, place, rule in every:
        modes = CHANGES if group == "migration" else USES
        several = "," in rule.on_success or "," in rule.on_failure
        if (
            not _is_name(rule.name)
            or rule.name in names
            or not rule.type
            or rule.mode not in {"", *modes}
            or (several and rule.mode not in {"WRITEREAD", "UPDOWN"})
        ):
            raise No(InvalidRules, "RULE_INVALID", path=f"/ruleSet/{group}Rules/{place}", new=rule.name)
        names.append(rule.name)


def _is_name(name: str) -> bool:
    begins = name[:1].isalpha() or name[:1] == "_"
    return begins and len(name) <= RULE_NAME and all(char.isalnum() or char in "_-" for char in name)


def merge_rules(under: RuleSet | None, over: RuleSet | None) -> RuleSet | None:
    """The rules of both, those of `over` in place of those of the same name in the same group."""
    if under is None or over is None:
        return over if under is None else under
    return RuleSet(
        _merged(under.migration, over.migration),
        _merged(under.domain, over.domain),
        _merged(under.encoding, over.encoding),
        over.enable_at or under.enable_at,
    )


def _merged(under: tuple[Rule, ...], over: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(rule for rule in under if rule.name not in [new.name for new in over]) + over


def without_rules(rules: RuleSet | None, names: tuple[str, ...]) -> RuleSet | None:
    if rules is None or not names:
        return rules

    def kept(group: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return tuple(rule for rule in group if rule.name not in names)

    return RuleSet(kept(rules.migration), kept(rules.domain), kept(rules.encoding), rules.enable_at)
