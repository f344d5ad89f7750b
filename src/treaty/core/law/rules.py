"""Rules for rule sets: what a client must be able to rely on when it runs them."""

from treaty.core.limits import RULE_NAME, RULES
from treaty.core.refusals import Invalid, InvalidRules
from treaty.core.schema import Rule, RuleSet

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
    seen: set[str] = set()
    groups = {"migration": rules.migration, "domain": rules.domain, "encoding": rules.encoding}
    if sum(map(len, groups.values())) > RULES:
        raise InvalidRules.of("RULES", f"More than {RULES} rules in one rule set", allowed=f"at most {RULES}")
    for group, members in groups.items():
        for place, rule in enumerate(members):
            _refuse_unknown_words(rule, f"/ruleSet/{group}Rules/{place}")
    for group, members in groups.items():
        for place, rule in enumerate(members):
            problem = _name_problem(rule.name, seen) or _rule_problem(rule, group)
            if problem:
                raise InvalidRules.of("RULE_INVALID", problem, path=f"/ruleSet/{group}Rules/{place}", new=rule.name)
            seen.add(rule.name)


def _refuse_unknown_words(rule: Rule, path: str) -> None:
    for member, words in _WORDS.items():
        given = getattr(rule, member)
        if given and given not in words:
            raise Invalid.of(
                "RULE_WORD",
                f"The {member} of a rule is '{given}', which is none of {', '.join(words)}",
                path=f"{path}/{member}",
                new=given,
                allowed=", ".join(words),
            )


def _name_problem(name: str, seen: set[str]) -> str:
    if not name:
        return "Missing rule name"
    if name in seen:
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
