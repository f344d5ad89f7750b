"""Bugs planted in the rules that the simulation's own model of them finds: `decide` itself would call them right."""

from tests.planted.bug import ANY, Bug, Edit, by_lives

LAW = "treaty.core.law."


def rule(name: str, does: str, target: str, old: str, new: str, first: int = 0) -> Bug:
    """A bug in a module of `treaty.core.law`; any law may break first."""
    return Bug(name, does, (Edit(LAW + target, old, new),), by_lives(first, ANY))


JUDGED = (
    rule(
        "rule: nothing is hidden",
        "A softly deleted version stays where its schema is registered again.",
        "places:_vanishing",
        '("soft",))',
        "())",
    ),
    rule(
        "rule: an alias leads two steps",
        "An alias of an alias is followed to the end.",
        "aliases:_target",
        "return named.sibling(alias) if alias else None",
        "return (_target(view, named.sibling(alias)) or named.sibling(alias)) if alias else None",
    ),
    rule(
        "rule: the oldest version is compared for the latest",
        "A level that compares with the latest version compares with the oldest one.",
        "admission:compared_with",
        "islice(same, 1)",
        "[*same][-1:]",
    ),
    rule(
        "rule: groups are not told apart",
        "Versions of all groups are compared with each other.",
        "admission:_same_part",
        "return old.get(name) == (new.draft.metadata or Metadata()).get(name)",
        "return True",
        first=20,
    ),
    rule(
        "rule: the policy of a new subject is forgotten",
        "A registration that names the policy of its new subject follows the config.",
        "register:case_of",
        "config_in_force(view, scope, made)",
        "config_in_force(view, scope)",
    ),
    rule(
        "rule: outcomes tell another number",
        "The outcome of a registration remembers a wrong version number.",
        "memory:_members",
        '"number": str(version.number)',
        '"number": str(version.number + 1)',
    ),
    rule(
        "rule: outcomes are never dropped",
        "Outcomes that are too old stay for ever.",
        "memory:_too_old",
        "islice(entries, OUTCOMES_DROPPED)",
        "islice(entries, 0)",
    ),
    rule(
        "rule: metadata is not inherited",
        "A new version without metadata has none, whatever the last one has.",
        "extras:metadata_for",
        "sent if sent is not None else last",
        "sent",
    ),
    rule(
        "rule: references lead to deleted versions",
        "A reference may name a version that is softly deleted.",
        "references:_follow",
        "LATEST if one.version == -1 else one.version, visible)",
        'LATEST if one.version == -1 else one.version, "all")',
    ),
    rule(
        "rule: lookup_digest is not asked",
        "A schema that is another text of a stored one becomes a version of its own.",
        "lookup:same_version",
        '("schema.lookup_digest", one.lookup_digest)',
        '("schema.lookup_digest", "")',
    ),
    rule(
        "rule: a purge leaves the config",
        "A subject that is made again has the config of the one that was removed.",
        "deletion:whole_subject",
        'for table in ("config", "mode"):',
        "for table in ():",
    ),
    rule(
        "rule: the latest version may be a deleted one",
        "A softly deleted version is told as the latest.",
        "versions:select",
        "latest_version(view, subject, visible) if number == LATEST",
        'latest_version(view, subject, "all") if number == LATEST',
    ),
    rule(
        "rule: other contexts are not searched",
        "A name without a context that the default one has not is not found elsewhere.",
        "queries:at_home",
        "same_name_elsewhere(view, subject)",
        "()",
    ),
    rule(
        "rule: an import begins without force",
        "A scope goes into import mode with its versions in it.",
        "tuning:set_mode",
        '_empty_scope(view, request.scope) if mode == "IMPORT"',
        '[] if mode == "IMPORT"',
    ),
    rule(
        "rule: an id is given without import mode",
        "Who registers says the id although the mode is not one of import.",
        "register:refuse_by_mode",
        "elif case.request.schema_id >= 0 and not case.importing:",
        "elif case.request.schema_id >= 0 and not case:",
    ),
    rule(
        "rule: tags are only taken away",
        "Tags that a registration adds are left out.",
        "register:_with_tags",
        "add, remove = request.add_tags, request.remove_tags",
        "add, remove = (), request.remove_tags",
    ),
    rule(
        "rule: a page is one short",
        "A page of a list has one entry less than its limit.",
        "listings:_page",
        "offset + limit",
        "offset + max(limit - 1, 1)",
    ),
    rule(
        "rule: rights are not asked",
        "Nobody asks whether who sends a request may do it.",
        "aliases:meant",
        "if access is not None:\n        refuse_unless_allowed",
        "if access is None:\n        refuse_unless_allowed",
    ),
    Bug(
        "rule: references need no right",
        "A schema may refer to a subject that who registers it may not read.",
        (Edit("treaty.core.needs:_references", "if one.subject", "if not one"),),
        by_lives(0, ANY),
    ),
    Bug(
        "rule: everybody sees everything",
        "Lists and ids show what who asks may not read.",
        (Edit("treaty.core.seen:Seen._reads", "return self._access.may(", "return bool(key) or self._access.may("),),
        by_lives(0, ANY),
    ),
)
