"""Bugs planted where logs are carried, checked and mended: rows that do not add up, and logs of format 1."""

from tests.planted.bug import Bug, Edit, by_tests

DUMP, RESTORE, ADDING = "treaty.log.maintenance.dump:", "treaty.log.maintenance.restore:", "treaty.log.state_roots:"
OLD = "treaty.log.upgrade."
CARE, ROOT = "behaviours/logs/test_care.py::", "facades/test_log_root.py::"
UPGRADE = "behaviours/upgrade/test_upgrade.py::"
EQUAL = by_tests(UPGRADE + "test_every_answer_of_the_old_registry_is_given_by_the_new_one[log]")

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
        "upgrade: the policy of a subject is lost",
        "A subject that followed a policy of its own follows its config after the upgrade.",
        (Edit(OLD + "policies:merge_policy", 'row["level"] = convert_level(policy)', "pass"),),
        EQUAL,
    ),
    Bug(
        "upgrade: a subject's new config row hides that of its context",
        "Where a subject's own policy gets a config row, what its context's config says is in force no more.",
        (Edit(OLD + "policies:merge_policy", "for name, value in before.items() if", "for name, value in () if"),),
        EQUAL,
    ),
    Bug(
        "upgrade: what would come from the default context now is not held off",
        "A subject's new config row takes settings of the default context that were not in force there.",
        (Edit(OLD + "policies:merge_policy", "row[name] = value", "pass"),),
        by_tests("laws/test_upgrade.py::test_what_is_in_force_stays_the_same"),
    ),
    Bug(
        "upgrade: generations are lost",
        "Versions of a log of format 1 get generation 0, whatever their subject's is.",
        (
            Edit(
                OLD + "conversion:_convert_version",
                "known.generations.get((context, subject), 0), ordinal",
                "0, ordinal",
            ),
        ),
        EQUAL,
    ),
    Bug(
        "upgrade: nothing is compared at the end",
        "What was carried over is believed to be equal.",
        (
            Edit(
                OLD + "conversion:_convert_schema", 'likeness="lookup_digest"', 'likeness="lookup_digest", guid="guide"'
            ),
            Edit(OLD + "comparison:find_differences", "was != text and not", "was is text and not"),
        ),
        EQUAL,
    ),
    Bug(
        "upgrade: whatever was written meanwhile is sealed too",
        "A log is sealed behind appends that were not read, and what they wrote is lost.",
        (Edit(OLD + "sqlite:OldSqlite.write", "if _read_tip(file) != base:", "if _read_tip(file) is None:"),),
        by_tests(UPGRADE + "test_a_log_that_is_still_written_to_is_refused"),
    ),
    Bug(
        "upgrade: a record of a seal that came second counts",
        "In a topic with any writer the upgrade takes its log for sealed though another append came first.",
        (Edit(OLD + "topics:OldMultiWriterLog.write", "if position != base:", "if position is None:"),),
        by_tests(UPGRADE + "test_a_seal_that_came_second_in_a_topic_is_none"),
    ),
    Bug(
        "upgrade: a topic is read up to its fold",
        "Of a topic of format 1 the state of its newest fold is carried over, and what was appended behind it is lost.",
        (
            Edit(
                OLD + "topic_records:read_multi_writer_state",
                "_read_snapshot_rows(chunks), appends)",
                "_read_snapshot_rows(chunks), ())",
            ),
        ),
        by_tests(UPGRADE + "test_all_forms_hold_the_same_rows"),
    ),
    Bug(
        "upgrade: a row that could not be read is left out",
        "Rows that format 1 could not read are not carried over, so nobody can mend them any more.",
        (
            Edit(
                OLD + "conversion:convert_rows",
                "new.append(EncodedRow(RENAMED_TABLES.get(row.table, row.table), row.key, row.value))",
                "pass",
            ),
        ),
        by_tests(UPGRADE + "test_a_row_that_format_1_could_not_read_stays_as_it_is"),
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
