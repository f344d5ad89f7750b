"""Bugs planted in the state file: what holds it against the log, against itself, and against who may have written it."""

from tests.planted.bug import Bug, Edit, by_tests

HAND = "behaviours/nodes/test_state_hand.py"
REPLACED = "behaviours/nodes/test_state_replaced.py"

STATES = (
    Bug(
        "state file: the root in its head is held against nothing",
        "A state file is taken whose place the log has with another root, and what the rows come to is not compared either.",
        (
            Edit("treaty.core.state.commit:Position.agrees", "self.root == other.root and", ""),
            Edit("treaty.node.segment.layered:LayeredTables.advance", "!= position.root", "== position"),
        ),
        by_tests(
            f"{HAND}::test_a_head_that_the_log_does_not_know_is_dropped_and_said[memory-root-at-the-tip]",
            f"{HAND}::test_a_head_that_the_log_does_not_know_is_dropped_and_said[memory-root-below-the-tip]",
        ),
    ),
    Bug(
        "state file: the shares of its tables are not added up",
        "A state file is taken whose tables do not come to the root in its head.",
        (
            Edit(
                "treaty.node.segment.statefile:open_state",
                "if not to_check and as_root(found.roots) != place.root:",
                "if place is None:",
            ),
        ),
        by_tests(f"{HAND}::test_a_head_whose_shares_do_not_make_its_root_is_refused[share]"),
    ),
    Bug(
        "state file: no guid is compared",
        "A schema is served from a state file though its text is not the one of its guid.",
        (Edit("treaty.node.segment.segment:Segment._row", "and self._careful:", "and not table:"),),
        by_tests(
            f"{HAND}::test_a_text_that_is_not_the_one_of_its_guid_is_never_served[plain]",
            f"{HAND}::test_a_text_that_is_not_the_one_of_its_guid_is_never_served[with-references]",
        ),
    ),
    Bug(
        "state file: a block of another file is taken",
        "Blocks of rows are not compared with the checksums that the file has of them.",
        (Edit("treaty.node.segment.blocks:BlockReader.raw", "if found != self.sums[number]:", "if number < 0:"),),
        by_tests(f"{HAND}::test_rows_of_another_file_of_the_same_place_are_noticed"),
    ),
    Bug(
        "state file: rows that come to another root are written",
        "A state file is written of rows that are not those of its place.",
        (Edit("treaty.node.segment.state_writer:_differs", "if found == position.root:", "if found:"),),
        by_tests(f"{REPLACED}::test_rows_that_do_not_come_to_the_root_of_the_log_never_replace_a_file"),
    ),
    Bug(
        "state file: what was dropped is copied from",
        "A server that has dropped its state file leaves it there, and the next one takes its rows over.",
        (Edit("treaty.node.segment.manager:StateFileManager._drop", "self.path.unlink()", "pass"),),
        by_tests(f"{REPLACED}::test_a_server_replaces_a_file_that_it_dropped_and_copies_nothing_from_it"),
    ),
    Bug(
        "state file: whoever wrote it is believed",
        "A state file is taken that others may write.",
        (Edit("treaty.node.segment.statefile:open_state", "_refuse_others(path, os.fstat(file.fileno()))", "pass"),),
        by_tests(
            f"{REPLACED}::test_a_file_that_others_may_write_is_refused_by_name[{0o620}]",
            f"{REPLACED}::test_a_file_of_another_user_is_refused_by_name_and_one_of_root_is_taken",
        ),
    ),
    Bug(
        "segment: a text is written as this version would write it",
        "A row that somebody else has written otherwise is given back in the words of this version.",
        (
            Edit(
                "treaty.node.segment.value_format:_same",
                "if struct.v != ROW_FORMAT or _ENCODE(struct).decode() != text:",
                "if struct.v != ROW_FORMAT:",
            ),
        ),
        by_tests("laws/test_segment_texts.py::test_a_segment_has_every_row_as_it_was_written[spaced]"),
    ),
)
