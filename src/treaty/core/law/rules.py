"""Rules for rule sets: what a client must be able to rely on when it runs them."""

from treaty.core.limits import RULE_NAME, RULES
from treaty.core.refusals import InvalidRules
from treaty.core.schema import Rule, RuleSet

_MODES = {
    "migration": ("Migration", ("UPGRADE", "DOWNGRADE", "UPDOWN")),
    "domain": ("Domain", ("WRITE", "READ", "WRITEREAD")),
    "encoding": ("Encoding", ("WRITE", "READ", "WRITEREAD")),
}


def refuse_bad_rules(rules: RuleSet | None) -> None:
    """Raise `InvalidRules` for the first rule that can't be right, naming it."""
    if rules is None:
        return
    seen: set[str] = set()
    groups = {"migration": rules.migration, "domain": rules.domain, "encoding": rules.encoding}
    if sum(map(len, groups.values())) > RULES:
        raise InvalidRules.of("RULES", f"More than {RULES} rules in one rule set", allowed=f"at most {RULES}")
    for group, members in groups.items():
        for place, rule in enumerate(members):
            problem = _name_problem(rule.name, seen) or _rule_problem(rule, group)
            if problem:
                raise InvalidRules.of("RULE_INVALID", problem, path=f"/ruleSet/{group}Rules/{place}", new=rule.name)
            seen.add(rule.name)


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
