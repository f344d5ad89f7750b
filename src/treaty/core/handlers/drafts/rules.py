"""Rules of data contracts: which rule sets a version or a setting may have."""

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
_RULE_NAMES = f"letters, digits, _ and -, beginning with a letter or _, at most {RULE_NAME}"
RuleProblem = tuple[str, str]
"""What is wrong with a rule, and what is allowed there."""


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
                message, allowed = problem
                path = f"/ruleSet/{group}Rules/{place}"
                raise InvalidRules.of("RULE_INVALID", message, path=path, new=rule.name, allowed=allowed)
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


def _name_problem(name: str, names: set[str]) -> RuleProblem | None:
    if not name:
        return "Missing rule name", _RULE_NAMES
    if name in names:
        return f"Found rule with duplicate name '{name}'", "a name that no other rule of the rule set has"
    if len(name) > RULE_NAME:
        return "Rule name too long", _RULE_NAMES
    if not (name[0].isalpha() or name[0] == "_"):
        return f"Illegal initial character in rule name: {name[0]}", _RULE_NAMES
    odd = next((char for char in name if not (char.isalnum() or char in "_-")), "")
    return (f"Illegal character in rule name: {odd}", _RULE_NAMES) if odd else None


def _rule_problem(rule: Rule, group: str) -> RuleProblem | None:
    if not rule.type:
        return "Missing rule type", "the type of an executor, such as CEL, CEL_FIELD or JSONATA"
    word, modes = _MODES[group]
    if rule.mode and rule.mode not in modes:
        return f"{word} rules can only be {', '.join(modes[:-1])}, {modes[-1]}", ", ".join(modes)
    several = "," in rule.on_success or "," in rule.on_failure
    if several and rule.mode not in {"WRITEREAD", "UPDOWN"}:
        return "Multiple actions only valid with WRITEREAD and UPDOWN", "one action, or mode WRITEREAD or UPDOWN"
    return None
