"""Bugs planted in the state root: what counts in it, and who holds rows against it."""

from tests.planted.bug import Bug, Edit, by_lives, by_tests

WRONG = "behaviours/nodes/test_wrong_root.py"
TEXTS = "laws/test_texts.py"

ROOTS = (
    Bug(
        "root: not checked on load",
        "Whoever reads a whole log takes its rows, whatever root they come to.",
        (
            Edit(
                "treaty.node.follower:Follower._ready",
                "if as_root(roots_of(delta.rows)) != delta.tip.root: return None",
                "",
            ),
        ),
        by_tests(
            f"{WRONG}::test_who_starts_on_a_row_that_was_changed_answers_nothing_and_says_why[DictTables]",
            f"{WRONG}::test_who_starts_on_a_row_that_was_changed_answers_nothing_and_says_why[LayeredTables]",
        ),
        also=by_lives(0, "log", events="flipped"),
    ),
    Bug(
        "root: not checked on follow",
        "Whoever follows a log takes what comes, whatever root it leads to.",
        (Edit("treaty.core.state.tables:DictTables.advance", "!= position.root", "!= position.root and not self"),),
        by_tests(f"{WRONG}::test_a_row_that_changes_on_its_way_is_read_again"),
        also=by_lives(47, "log", events="flipped"),
    ),
    Bug(
        "root: not checked on a segment",
        "Tables over a segment take what comes, whatever root it leads to.",
        (
            Edit(
                "treaty.node.segment.layered:LayeredTables.advance", "!= position.root", "!= position.root and not self"
            ),
        ),
        by_tests(
            f"{WRONG}::test_who_meets_a_changed_row_goes_on_from_its_last_right_state_and_writes_nothing",
            f"{WRONG}::test_a_file_of_another_root_is_left_by_a_change_over",
        ),
    ),
    Bug(
        "root: not checked after an own append",
        "Who reads back its own append takes what its tables then add up to.",
        (
            Edit(
                "treaty.core.state.tables:DictTables.advance_own",
                "return as_root(self._roots) == position.root",
                "return True",
            ),
            Edit(
                "treaty.node.segment.layered:LayeredTables.advance_own",
                "return as_root(self.roots) == position.root",
                "return True",
            ),
        ),
        by_tests(
            f"{TEXTS}::test_tables_after_an_own_append_are_held_against_its_root[plain]",
            f"{TEXTS}::test_tables_after_an_own_append_are_held_against_its_root[layered]",
        ),
    ),
    Bug(
        "root: not checked on restore",
        "A dump is restored whatever root its rows come to.",
        (Edit("treaty.log.maintenance.dump:refuse_root_mismatch", "if wrong:", "if not head:"),),
        by_tests("behaviours/logs/test_care.py::test_a_dump_that_is_not_whole_is_refused[changed]"),
    ),
    Bug(
        "root: a table is left out",
        "Rows of one table do not count in the root.",
        (Edit("treaty.core.state.rows:_digest_of", "table in UNROOTED", 'table in {*UNROOTED, "version"}'),),
        by_tests(f"{TEXTS}::test_every_table_counts_but_those_that_describe_their_log[version]"),
        also=by_lives(0, "root"),
    ),
    Bug(
        "root: rows that can't be read do not count",
        "What tables can't read adds nothing to their root.",
        (
            Edit(
                "treaty.core.state.tables:DictTables._put_in",
                "add(self._roots, row.table, share)",
                "add(self._roots, row.table, 0 if isinstance(value, UnreadableValue) else share)",
            ),
        ),
        by_tests(f"{TEXTS}::test_tables_give_back_the_texts_of_the_log"),
    ),
    Bug(
        "root: a row is encoded anew",
        "Tables give back a row as this version writes it, not as it stands in the log.",
        (Edit("treaty.core.state.tables:read", "gives_back(decoded, row.value)", "True"),),
        by_tests(f"{TEXTS}::test_tables_give_back_the_texts_of_the_log"),
    ),
    Bug(
        "root: commands are decided on tables that nobody has checked",
        "A node that stands on a state file writes before its first look.",
        (
            Edit("treaty.node.writer:Writer._round", "or not self._follower.proven", ""),
            Edit("treaty.node.writer:Writer._build", "if self._queue.read_only or not self._follower.proven:", "if 0:"),
        ),
        by_tests(f"{WRONG}::test_a_state_file_with_a_changed_row_in_its_sums_is_dropped_and_the_rows_are_read"),
    ),
    Bug(
        "root: accepted rows need a new start",
        "A node that met a wrong root stays read-only though the log is mended.",
        (Edit("treaty.node.follower:Follower._take", "self.proven, self.wrong = True, None", "self.proven = True"),),
        by_tests(f"{WRONG}::test_an_accepted_state_is_followed_without_a_new_start"),
    ),
    Bug(
        "root: rows that are wrong are read again and again",
        "As long as the rows of a log are wrong each look reads all of them.",
        (
            Edit(
                "treaty.node.follower:Follower._catch_up_once",
                "if ( self.wrong is not None and",
                "if ( self.wrong and not",
            ),
        ),
        by_tests(f"{WRONG}::test_rows_that_are_put_back_are_read_again_after_a_while"),
    ),
    Bug(
        "root: wrong rows are remembered though their log was put back",
        "A node that met a wrong root stays read-only when the log comes back at the position of its tables.",
        (Edit("treaty.node.follower:Follower._catch_up_once", "or self.wrong is not None", ""),),
        by_tests(
            f"{WRONG}::test_a_log_put_back_to_where_the_tables_stand_is_believed_at_once[0]",
            f"{WRONG}::test_a_log_put_back_to_where_the_tables_stand_is_believed_at_once[1]",
        ),
    ),
)
