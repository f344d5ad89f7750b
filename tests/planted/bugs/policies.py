"""Bugs planted in what policies mean, how they are shown and put, what a subject is made with, in validators and named policies."""

from tests.planted.bug import Bug, Edit, by_tests

ADMISSION, SETTINGS, WORDS = (
    "treaty.core.handlers.compatibility:",
    "treaty.core.handlers.settings:",
    "treaty.core.policy:",
)
POLICY, MADE = "laws/test_policies.py::", "laws/test_policies_made.py::"
NAMED, VALIDATORS = "laws/test_named_policies.py::", "treaty.core.handlers.validators:"

POLICIES = (
    Bug(
        "policy: forward is judged with the range of backward",
        "A version is compared forward where the range of the other direction holds it.",
        (Edit(ADMISSION + "compared_with", "_holds(policy.forward, at, one)", "_holds(policy.backward, at, one)"),),
        by_tests(POLICY + "test_a_version_is_compared_in_the_directions_in_whose_range_it_is[at-once]"),
    ),
    Bug(
        "policy: a range from a version on leaves that version out",
        "A range begins behind the version at which it should begin.",
        (Edit(ADMISSION + "_holds", ">= range_.ordinal", "> range_.ordinal"),),
        by_tests("laws/test_admission.py::test_every_policy_admits_what_it_says[at-once]"),
    ),
    Bug(
        "policy: denial is forgotten by the word that is shown",
        "A level that refuses every change is shown as NONE.",
        (Edit(WORDS + "word_of", "if level.deny", "if level.deny and kinds"),),
        by_tests(POLICY + "test_the_word_that_is_shown_is_the_nearest_stricter_one"),
    ),
    Bug(
        "policy: a range from a version on is shown as the latest",
        "The word that stands for such a range is less strict than the range.",
        (Edit(WORDS + "word_of", 'if kinds == {"latest"}', 'if kinds <= {"latest", "till"}'),),
        by_tests(POLICY + "test_the_word_that_is_shown_is_the_nearest_stricter_one"),
    ),
    Bug(
        "policy: the word that was shown replaces the level",
        "A client that puts back the level that it has read changes a level that no word names.",
        (Edit(SETTINGS + "merge_config", "level = new.level", "level = LEVELS[change.level]"),),
        by_tests(
            POLICY
            + "test_the_word_just_shown_changes_nothing_and_any_other_replaces_the_level[at-once-FULL_TRANSITIVE]"
        ),
    ),
    Bug(
        "policy: the level of a subject takes a direction from above",
        "A direction that a subject's level leaves out is the one of its context, as if a level were two members.",
        (
            Edit(
                SETTINGS + "config_in_force",
                "return config_of(found",
                "below = _level_below(view, scope)\n    if found.level is not None and found.level.backward.kind == 'none':\n"
                "        found = replace(found, level=replace(found.level, backward=below.backward))\n"
                "    return config_of(found",
            ),
        ),
        by_tests(POLICY + "test_the_level_is_one_member[at-once]"),
    ),
    Bug(
        "policy: a context has a range from a version on",
        "A range that begins at a version of no subject is taken.",
        (
            Edit(
                "treaty.core.handlers.policies:refuse_missing_version",
                'range_.kind != "till"',
                'range_.kind != "till" or scope.name is None',
            ),
        ),
        by_tests(POLICY + "test_only_a_subject_has_a_range_that_begins_at_a_version"),
    ),
    Bug(
        "createWith: a subject that is there is made again",
        "A registration changes the policy of a subject that has versions.",
        (
            Edit(
                "treaty.core.handlers.policies:created_config",
                "if view.get(SUBJECT, subject) is not None",
                "if not subject",
            ),
        ),
        by_tests(MADE + "test_a_subject_that_is_there_is_not_made_again"),
    ),
    Bug(
        "createWith: the config that came before is overwritten",
        "A registration changes a config that was set before its subject was there.",
        (
            Edit(
                "treaty.core.handlers.policies:created_config",
                "not in {None, getattr(new, name)}",
                "not in {None, getattr(new, name), getattr(old, name)}",
            ),
        ),
        by_tests(MADE + "test_a_config_that_says_something_else_refuses"),
    ),
    Bug(
        "createWith: the row is not written",
        "The first version is judged by the policy of the registration, and the next one by that of the chain.",
        (
            Edit(
                "treaty.core.handlers.schema_ids:own_config_rows",
                "() if config is None or",
                "() if view is not None or",
            ),
        ),
        by_tests(MADE + "test_it_holds_from_then_on_and_is_changed_as_any_config"),
    ),
    Bug(
        "transfer: a range begins at the ordinal of the source",
        "A copied policy begins at another version, because the copy counts its versions anew.",
        (
            Edit(
                "treaty.client.transfer.image_writer:_Writing._configure",
                "{ordinal: self._ordinal(scope, number) for",
                "{ordinal: ordinal for",
            ),
        ),
        by_tests(
            "behaviours/test_transfer_policies.py::test_a_range_begins_at_the_same_version_in_a_copy[http-confluent-directly]"
        ),
    ),
    Bug(
        "validator: one that is not here is skipped",
        "A node without a plug-in admits schemas that its validator never saw.",
        (Edit(VALIDATORS + "_refuse_missing", "if missing:", "if missing and not named:"),),
        by_tests("laws/test_demands.py::test_a_validator_that_went_away_stops_versions_and_checks[at-once]"),
    ),
    Bug(
        "validator: earlier versions beside the latest are not shown",
        "A validator sees the latest version alone, whatever the range of the policy.",
        (
            Edit(
                VALIDATORS + "_earlier_versions",
                "in compared_with(one.view, one.policy, one.new, one.subject):",
                "in compared_with(one.view, one.policy, one.new, one.subject)[:1]:",
            ),
        ),
        by_tests("laws/test_validators.py::test_fields_of_versions_in_the_range_stay[AVRO]"),
    ),
    Bug(
        "validator: a policy as validator says nothing",
        "What a policy that is named as a validator refuses is admitted.",
        (Edit(VALIDATORS + "inspect", "found += _compare(", "found + _compare("),),
        by_tests(NAMED + "test_a_policy_as_validator_is_compared_beside_the_own_one_and_its_refusal_says_so"),
    ),
    Bug(
        "named policy: deleted while it is followed",
        "A policy goes although configs follow it.",
        (
            Edit(
                "treaty.core.handlers.named_policies:delete_policy",
                "refuse_if_used(view, POLICY, PolicyKey(name), GoingRows())",
                "pass",
            ),
        ),
        by_tests(NAMED + "test_a_policy_stays_as_long_as_something_uses_it"),
    ),
    Bug(
        "named policy: a follower keeps the old ranges",
        "A config that follows a policy copies its ranges once, and a change of the policy does not reach it.",
        (
            Edit(
                SETTINGS + "config_row", "level=None, partition=None, strictness=None, validators=None, packages=()", ""
            ),
            Edit(SETTINGS + "own_value", "value.follows is None", "value.level is not None"),
        ),
        by_tests(NAMED + "test_each_version_passes_the_policy_of_its_time_and_keeps_it"),
    ),
    Bug(
        "named policy: what is expected is not compared",
        "Of two who change a policy from the same one both do.",
        (
            Edit(
                "treaty.core.handlers.named_policies:change_policy",
                "if request.previous is not None and",
                "if request.previous is not None and not request.name and",
            ),
        ),
        by_tests(NAMED + "test_of_two_who_change_a_policy_from_the_same_one_the_second_is_refused"),
    ),
)
