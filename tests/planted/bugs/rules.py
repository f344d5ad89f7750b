"""Bugs planted in the rules that every command is decided by."""

from tests.planted.bug import ANY, Bug, Edit, by_lives, by_tests

RULES = (
    Bug(
        "outcomes: only fifty are kept",
        "The outcome of a command is forgotten after fifty commits instead of 10,000.",
        (Edit("treaty.core.outcomes:_too_old", "sequence - OUTCOMES", "sequence - 50"),),
        by_tests("laws/test_corners.py::test_the_oldest_outcome_falls_out"),
    ),
    Bug(
        "config: chain in the wrong order",
        "What is set everywhere goes before what is set at the context.",
        (
            Edit(
                "treaty.core.handlers.settings:config_in_force",
                "found = own_value(view, Scope(scope.context))",
                "found = own_value(view, ALL) or own_value(view, Scope(scope.context))",
            ),
        ),
        by_tests("laws/test_settings.py::test_config_chain"),
    ),
    Bug(
        "register: hides a version that others refer to",
        "A softly deleted version becomes hidden though a schema still refers to it.",
        (Edit("treaty.core.handlers.schema_ids:_vanishing", 'and not any(referrers(view, one[0], "all"))', ""),),
        by_tests("laws/test_corners.py::test_a_version_that_even_a_deleted_schema_refers_to_does_not_vanish"),
        also=by_lives(149, ANY),
    ),
    Bug(
        "purge: ignores soft referrers",
        "A version is removed for good though a softly deleted version refers to it.",
        (Edit("treaty.core.handlers.deletion:delete_version", '"all" if request.permanent else "live"', '"live"'),),
        by_tests("behaviours/test_registry_deletes.py::test_what_others_refer_to_stays[memory]"),
    ),
    Bug(
        "delete: the mode is not asked",
        "A version is deleted though its subject is read-only.",
        (Edit("treaty.core.handlers.deletion:delete_version", "refuse_if_readonly(view, Scope(*subject))", "pass"),),
        by_tests("behaviours/test_registry_settings.py::test_a_readonly_scope_takes_no_change_but_of_its_mode[memory]"),
        also=by_lives(0, ANY),
    ),
    Bug(
        "alias: followed although the request says exact",
        "A request that means the subject itself is sent on to what the subject stands for.",
        (
            Edit(
                "treaty.core.declarations.operation:_subject_unless_exact",
                "None if request.exact else request.subject",
                "request.subject",
            ),
        ),
        by_tests("behaviours/test_registry_aliases.py::test_importers_mean_the_subject_itself[memory]"),
        also=by_lives(18, ANY),
    ),
    Bug(
        "policy: the oldest version is not compared",
        "A transitive check leaves the oldest version out.",
        (
            Edit(
                "treaty.core.handlers.compatibility:compared_with",
                "return [one for one in compared if one.backward or one.forward]",
                "return (lambda found: found[:-1] or found)([one for one in compared if one.backward or one.forward])",
            ),
        ),
        by_tests("laws/test_admission.py::test_every_level_under_every_strictness[FULL_TRANSITIVE-STRICT]"),
        also=by_lives(32, "3 5"),
    ),
    Bug(
        "purge: drops a schema that another subject uses",
        "The schema of a removed version goes though another version has it.",
        (
            Edit(
                "treaty.core.handlers.uses:_drop_going",
                "if key not in going.versions",
                "if key not in going.versions and not going.versions",
            ),
        ),
        by_lives(0, ANY),
    ),
    Bug(
        "register: the mark of a forced version is lost",
        "A version that was registered by force does not say so.",
        (
            Edit(
                "treaty.core.handlers.schema_ids:new_version", "if request.force else None", "if not request else None"
            ),
        ),
        by_lives(0, "5"),
    ),
    Bug(
        "outcomes: another request under the id gets the answer",
        "What a command came to is told to another request that has the same id.",
        (
            Edit(
                "treaty.core.outcomes:recall_answer",
                'if members.get("request", "") not in {"", request_digest(command.request)}:',
                "if not members:",
            ),
        ),
        by_tests("behaviours/nodes/test_writing.py::test_another_request_under_a_used_id_is_refused"),
        also=by_lives(14, "1 2"),
    ),
    Bug(
        "context: its counter of ids goes with it",
        "When a context is deleted its counter goes too, so a context of that name gives the same ids again.",
        (
            Edit(
                "treaty.core.handlers.contexts:delete_context",
                "return Decision(tuple(rows), DeletedVersions(()))",
                'return Decision((*rows, Row("counter", ("ids", context, "", ""), None)), Deleted(()))',
            ),
        ),
        by_lives(43, "4 log"),
    ),
    Bug(
        "overlay: an entry that was given up in the chain is still found",
        "An index finds a row under what an earlier commit of the same chain has changed.",
        (Edit("treaty.core.state.overlay:Overlay._settle", "self._claim(table, row.key, before, held=False)", "pass"),),
        by_tests("laws/test_indexes.py::test_a_view_shows_what_its_rows_say_after_every_commit"),
        also=by_lives(0, ANY),
    ),
)
