"""Bugs planted in the rules that every command is decided by."""

from tests.planted.bug import Bug, Edit, by_tests

RULES = (
    Bug(
        "outcomes: only fifty are kept",
        "The outcome of a command is forgotten after fifty commits instead of 10,000.",
        (Edit("treaty.core.law.memory:_too_old", "sequence - OUTCOMES", "sequence - 50"),),
        by_tests("laws/test_corners.py::test_the_oldest_outcome_falls_out"),
    ),
    Bug(
        "config: chain in the wrong order",
        "What is set everywhere goes before what is set at the context.",
        (
            Edit(
                "treaty.core.law.settings:config_in_force",
                "found = own_config(view, Scope(scope.context))",
                "found = own_config(view, ALL) or own_config(view, Scope(scope.context))",
            ),
        ),
        by_tests("laws/test_settings.py::test_config_chain"),
    ),
    Bug(
        "register: hides a version that others refer to",
        "A softly deleted version becomes hidden though a schema still refers to it.",
        (Edit("treaty.core.law.places:_vanishing", "and not any(referrers(view, one, deleted=True))", ""),),
        by_tests("laws/test_corners.py::test_a_version_that_even_a_deleted_schema_refers_to_does_not_vanish"),
    ),
    Bug(
        "purge: ignores soft referrers",
        "A version is removed for good though a softly deleted version refers to it.",
        (Edit("treaty.core.law.deletion:delete_version", "deleted=request.permanent)", "deleted=False)"),),
        by_tests("behaviours/test_registry_deletes.py::test_what_others_refer_to_stays[memory]"),
    ),
    Bug(
        "delete: the mode is not asked",
        "A version is deleted though its subject is read-only.",
        (Edit("treaty.core.law.deletion:delete_version", "refuse_if_readonly(view, Scope(*subject))", "pass"),),
        by_tests("behaviours/test_registry_settings.py::test_a_readonly_scope_takes_no_change_but_of_its_mode[memory]"),
    ),
    Bug(
        "alias: followed although the request says exact",
        "A request that means the subject itself is sent on to what the subject stands for.",
        (Edit("treaty.core.law.aliases:alias_candidate", "and request.exact", "and not request"),),
        by_tests("behaviours/test_registry_aliases.py::test_importers_mean_the_subject_itself[memory]"),
    ),
)
