"""Bugs planted where logs are carried, checked and mended: rows that do not add up."""

from tests.planted.bug import Bug, Edit, by_tests

DUMP, RESTORE, ADDING = "treaty.log.maintenance.dump:", "treaty.log.maintenance.restore:", "treaty.log.state_roots:"
CARE, ROOT = "behaviours/logs/test_care.py::", "facades/test_log_root.py::"

CARED = (
    Bug(
        "restore: the rows of a dump are not added up",
        "A dump whose rows were changed is only known by the digest of its lines, which names no table.",
        (Edit(DUMP + "_refuse_changed", "refuse_root_mismatch(head, found,", "(lambda *_: None)(head, found,"),),
        by_tests(ROOT + "test_a_copy_with_a_changed_row_is_refused_and_its_table_named[dump]"),
    ),
    Bug(
        "restore: the rows of a backup are not added up",
        "A backup whose rows were changed becomes a log that states them.",
        (Edit("treaty.cli.log.dump_file:open_dump_file", "if not lenient:", "if lenient is None:"),),
        by_tests(ROOT + "test_a_copy_with_a_changed_row_is_refused_and_its_table_named[backup]"),
    ),
    Bug(
        "restore: rows of the try that was cut off count twice",
        "A restore that goes on adds rows that are there already once more, and states another root.",
        (Edit(RESTORE + "restore_log", "row.digest - (before.digest if before else 0)", "row.digest"),),
        by_tests(CARE + "test_a_restore_in_many_appends_states_the_roots_of_its_rows[sqlite]"),
    ),
    Bug(
        "repair: any commit states rows that were changed past the log",
        "Who moves rows aside, or seals a log, makes its changed rows true without a word.",
        (Edit(RESTORE + "refuse_wrong_root", "if not has_stated_root(delta):", "if delta is None:"),),
        by_tests(CARE + "test_a_state_that_does_not_add_up_is_accepted_by_one_commit[sqlite]"),
    ),
    Bug(
        "verify: what a log keeps of its tables is not looked at",
        "A state that does not add up is found, and no table is named.",
        (Edit(ADDING + "find_root_mismatches", "if says != adds:", "if says is None:"),),
        by_tests(ROOT + "test_a_table_that_was_changed_is_named_and_the_row_beside_a_copy[a row by hand]"),
    ),
    Bug(
        "verify: the root that the last append states is not looked at",
        "A log whose last append states another root than its rows come to is called sound.",
        (Edit(ADDING + "find_root_mismatches", "if as_root(found) != root:", "if root is None:"),),
        by_tests(CARE + "test_what_is_stated_is_compared_with_what_rows_come_to"),
    ),
    Bug(
        "restore: every append states the roots of the last one",
        "The roots of an append are those that a restore goes on counting in, so a SQL log keeps none of its tables.",
        (Edit(RESTORE + "restore_log", "batch, dict(roots), time", "batch, roots, time"),),
        by_tests(CARE + "test_a_restore_in_many_appends_states_the_roots_of_its_rows[sqlite]"),
    ),
    Bug(
        "verify: rows that only the other copy has are no difference",
        "Beside a copy a row that is gone here is not named.",
        (
            Edit(
                "treaty.cli.log.whole_state:_find_differing_rows",
                "if mine != row.value:",
                "if mine not in {None, row.value}:",
            ),
        ),
        by_tests(ROOT + "test_a_table_that_was_changed_is_named_and_the_row_beside_a_copy[a row that is gone]"),
    ),
    Bug(
        "restore: a dump that breaks a rule is restored",
        "Rows that no registry would have written become a log, without a word.",
        (
            Edit(
                "treaty.cli.log.backup:_check_dump",
                "find_dump_violations(rows, head.position.sequence)",
                "tuple(rows)[:0]",
            ),
        ),
        by_tests(
            "facades/test_log_restore.py::test_a_dump_that_breaks_a_rule_is_refused_and_restored_only_by_those_who_insist"
        ),
    ),
    Bug(
        "restore: another file than the checked one is restored",
        "Who changes the file between its check and its restore has rows restored that nobody has checked.",
        (Edit("treaty.cli.log.backup:_refuse_changed", "if found != checked:", "if found is None:"),),
        by_tests("facades/test_log_restore.py::test_a_file_that_changes_between_the_check_and_the_restore_is_refused"),
    ),
    Bug(
        "restore: a row that is there twice counts as one",
        "A dump with two rows under one key is taken.",
        (Edit("treaty.log.maintenance.dump:read_rows", "before >= _sort_key(row)", "before > _sort_key(row)"),),
        by_tests("facades/test_log_restore.py::test_a_row_that_is_there_twice_is_refused_by_restore_and_by_verify"),
    ),
    Bug(
        "verify: a counter may count up to anything",
        "A counter above the highest number that any client reads is called sound.",
        (Edit("treaty.core.invariants:_counter", "<= COUNTER for one", "<= one for one"),),
        by_tests(
            "facades/test_log_restore.py::test_a_dump_that_breaks_a_rule_is_refused_and_restored_only_by_those_who_insist"
            "[a counter of twenty digits]"
        ),
    ),
    Bug(
        "list: a version without its schema takes the list along",
        "In a log that was restored as it is one broken row makes the list of schemas fail for all readers.",
        (Edit("treaty.core.handlers.listings:list_schemas", "with suppress(MissingSchemaError):", "with suppress():"),),
        by_tests(
            "facades/test_log_restore.py::test_a_version_without_its_schema_hides_itself_and_not_the_list[]",
            error="MissingSchemaError",
        ),
    ),
)
