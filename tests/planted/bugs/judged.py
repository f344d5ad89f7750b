"""Bugs planted in the rules that the simulation's own model of them finds: `decide` itself would call them right."""

from tests.planted.bug import ANY, Bug, Edit, by_lives, found_by

CORE = "treaty.core."


def rule(name: str, does: str, target: str, old: str, new: str, first: int = 0, *, events: str = "") -> Bug:
    """A bug in a module of `treaty.core`; any law may break first. `events` happen in each life."""
    return Bug(name, does, (Edit(CORE + target, old, new),), by_lives(first, ANY, events=events))


JUDGED = (
    rule(
        "rule: nothing is hidden",
        "A softly deleted version stays where its schema is registered again.",
        "handlers.schema_ids:_vanishing",
        '("soft",))',
        "())",
    ),
    rule(
        "rule: an alias leads two steps",
        "An alias of an alias is followed to the end.",
        "decide:_target",
        "return named.sibling(alias) if alias else None",
        "return (_target(view, named.sibling(alias)) or named.sibling(alias)) if alias else None",
    ),
    rule(
        "rule: the oldest version is compared for the latest",
        "A level that compares with the latest version compares with the oldest one.",
        "handlers.compatibility:compared_with",
        "candidates = islice(same, 1)",
        "candidates = [*same][-1:]",
    ),
    rule(
        "rule: groups are not told apart",
        "Versions of all groups are compared with each other.",
        "handlers.compatibility:_same_part",
        "return old.get(name) == (new.draft.metadata or Metadata()).get(name)",
        "return True",
        130,
    ),
    rule(
        "rule: the policy of a new subject is forgotten",
        "A registration that names the policy of its new subject follows the config that was there before.",
        "handlers.registration.state:case_of",
        "config_in_force(view, scope, made)",
        "config_in_force(view, scope)",
    ),
    rule(
        "rule: the policy of a new subject is not kept",
        "The policy that a registration names holds for the first version only; no config says it.",
        "handlers.schema_ids:own_config_rows",
        "config is None or",
        "config is None or config or",
    ),
    rule(
        "rule: the policy of a new subject changes a config",
        "A registration that names a policy puts it over the one that the config of the name has already.",
        "handlers.policies:created_config",
        "if old is not None and any(",
        "if old is None and any(",
    ),
    rule(
        "rule: a subject that is there is made with a policy",
        "A registration that names a policy sets it where the subject is there already.",
        "handlers.policies:created_config",
        "if view.get(SUBJECT, subject) is not None:",
        "if view.get(SUBJECT, subject) is view:",
    ),
    rule(
        "rule: both directions have one range",
        "The range for old data is the one for new data too.",
        "handlers.compatibility:compared_with",
        "_holds(policy.forward, at, one)",
        "_holds(policy.backward, at, one)",
    ),
    rule(
        "rule: a range begins after its version",
        "A range from a version on leaves out the version that it begins with.",
        "handlers.compatibility:_holds",
        "one[0].ordinal >= range_.ordinal",
        "one[0].ordinal > range_.ordinal",
        70,
    ),
    rule(
        "rule: denial is forgotten",
        "A policy that refuses every change admits what nothing is compared with.",
        "handlers.compatibility:check_compatibility",
        "if bar.policy.deny and latest is not None:",
        "if bar.policy.deny and latest is bar:",
    ),
    found_by(
        rule(
            "rule: a word that is shown sets its level",
            "The word by which an exact level is shown puts the level of that name in its place.",
            "handlers.settings:merge_config",
            "change.level == word_of(new.level):",
            "change.level is change:",
        ),
        *(
            f"laws/test_policies.py::test_the_word_just_shown_changes_nothing_and_any_other_replaces_the_level[{how}-{word}_TRANSITIVE]"
            for how in ("at-once", "after-needs")
            for word in ("BACKWARD", "FORWARD", "FULL")
        ),
    ),
    rule(
        "rule: a range begins at a version that is not there",
        "A range may begin at any number, be there a version or not.",
        "handlers.policies:refuse_missing_version",
        "if with_ordinal(view, subject, range_.ordinal) is None:",
        "if with_ordinal(view, subject, range_.ordinal) is view:",
    ),
    found_by(
        rule(
            "rule: an import removes subjects without versions",
            "A scope that goes into import mode loses subjects that have no version and that nobody deleted.",
            "handlers.settings_changes:_empty_scope",
            "inside = frozenset(subject_of_key(key) for key, _ in versions)",
            "inside = frozenset(_subjects(view, scope))",
        ),
        "laws/test_group_removal.py::test_a_scope_that_is_opened_for_imports_keeps_subjects_without_versions[confluent]",
        error="SubjectNotFound",
    ),
    rule(
        "rule: outcomes tell another number",
        "The outcome of a registration remembers a wrong version number.",
        "outcomes:_members",
        '"number": str(version.number)',
        '"number": str(version.number + 1)',
    ),
    rule(
        "rule: outcomes are never dropped",
        "Outcomes that are too old stay for ever.",
        "outcomes:_too_old",
        "islice(entries, OUTCOMES_DROPPED)",
        "islice(entries, 0)",
        6,
    ),
    rule(
        "rule: metadata is not inherited",
        "A new version without metadata has none, whatever the last one has.",
        "handlers.drafts.extras:metadata_for",
        "last if sent is None else sent",
        "sent",
        19,
    ),
    rule(
        "rule: references lead to deleted versions",
        "A reference may name a version that is softly deleted.",
        "handlers.drafts.schemas:_follow",
        "LATEST if one.version == -1 else one.version, visible)",
        'LATEST if one.version == -1 else one.version, "all")',
    ),
    rule(
        "rule: lookup_digest is not asked",
        "A schema that is another text of a stored one becomes a version of its own.",
        "handlers.drafts.same_versions:same_version",
        "(SCHEMA_BY_LOOKUP_DIGEST, one.lookup_digest, _is_same)",
        '(SCHEMA_BY_LOOKUP_DIGEST, "", _is_same)',
        105,
    ),
    rule(
        "rule: a purge leaves the config",
        "A subject that is made again has the config of the one that was removed.",
        "handlers.deletion:whole_subject",
        "*remove_settings(view, Scope(*subject))",
        "",
    ),
    rule(
        "rule: the latest version may be a deleted one",
        "A softly deleted version is told as the latest.",
        "handlers.versions:select",
        "latest_version(view, subject, visible) if number == LATEST",
        'latest_version(view, subject, "all") if number == LATEST',
    ),
    rule(
        "rule: other contexts are not searched",
        "A name without a context that the default one has not is not found elsewhere.",
        "handlers.queries:at_home",
        "same_name_elsewhere(view, subject)",
        "()",
    ),
    rule(
        "rule: an import begins without force",
        "A scope goes into import mode with its versions in it.",
        "handlers.settings_changes:set_mode",
        '_empty_scope(view, request.scope) if mode == "IMPORT"',
        '[] if mode == "IMPORT"',
    ),
    rule(
        "rule: an id is given without import mode",
        "Who registers says the id although the mode is not one of import.",
        "handlers.registration.state:refuse_by_mode",
        "elif case.request.schema_id >= 0 and not case.importing:",
        "elif case.request.schema_id >= 0 and not case:",
    ),
    rule(
        "rule: tags are only taken away",
        "Tags that a registration adds are left out.",
        "handlers.registration.register:_with_tags",
        "add, remove = request.add_tags, request.remove_tags",
        "add, remove = (), request.remove_tags",
    ),
    rule(
        "rule: a page is one short",
        "A page of a list has one entry less than its limit.",
        "handlers.listings:_page",
        "max(0, limit)",
        "max(1, limit - 1)",
        14,
    ),
    rule(
        "rule: rights are not asked",
        "Nobody asks whether who sends a request may do it.",
        "decide:resolve_alias",
        "if access is not None:\n        refuse_unless_allowed",
        "if access is None:\n        refuse_unless_allowed",
    ),
    Bug(
        "rule: one id is one command, whoever sends it",
        "Somebody who happens to have the command id of another principal is answered from that one's outcome.",
        (
            Edit(
                "treaty.core.command:Command.outcome_key",
                "return OutcomeKey(self.principal, self.command_id)",
                'return OutcomeKey("", self.command_id)',
            ),
        ),
        by_lives(0, ANY),
    ),
    Bug(
        "rule: administrators hear of their own commands only",
        "Who asks for the outcome of somebody else's command is told of their own with the same id.",
        (
            Edit(
                CORE + "handlers.queries:get_outcome",
                "principal = command.principal if request.principal is None else request.principal",
                "principal = command.principal",
            ),
        ),
        by_lives(0, ANY),
    ),
    Bug(
        "rule: references need no right",
        "A schema may refer to a subject that who registers it may not read.",
        (Edit("treaty.core.access.permissions:_references", "if one.subject", "if not one"),),
        by_lives(0, ANY),
    ),
    Bug(
        "rule: everybody sees everything",
        "Lists and ids show what who asks may not read.",
        (
            Edit(
                "treaty.core.access.authorized_view:AuthorizedView.reads",
                "else self._access.may(",
                "else bool(key) or self._access.may(",
            ),
        ),
        by_lives(0, ANY),
    ),
)
