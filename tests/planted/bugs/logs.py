"""Bugs planted in the logs: SQLite, Kafka with any writer, Kafka with one owner."""

from tests.planted.bug import ANY, Bug, Edit, by_lives, by_tests

LOGS = (
    Bug(
        "any: a fork is not noticed",
        "An append that was decided on another history counts as one that came second.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.validity:AppendHistory.check",
                "return RecordValidity.FORKED",
                "return RecordValidity.STALE",
            ),
        ),
        by_tests(
            "laws/test_kafka_rule.py::test_the_fourth_record[on another append at the tip]",
            "simulation/kafka/test_any_faults.py::test_a_fault_is_noticed[forked]",
        ),
    ),
    Bug(
        "any: a stale append is judged by its root",
        "An append that came second on a known place, and states another root than the one that won, counts as a fork.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.validity:AppendHistory.check",
                "if base >= self.oldest and self.digest_at(base) != claim.parent:",
                "if base >= self.oldest and (self.digest_at(base) != claim.parent"
                " or self.positions.get(claim.last, bytes(32) + claim.root)[32:] != claim.root):",
            ),
        ),
        by_tests("laws/test_kafka_rule.py::test_the_fourth_record[the third once more, with another root]"),
        also=by_lives(0, ANY, log="any"),
    ),
    Bug(
        "any: a place is known whatever its root",
        "Who comes with rows of another root, as a changed state file has, gets only what came after.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.reader_state:ReaderState.since",
                "if after.agrees(self.tip):",
                "if after == self.tip:",
            ),
        ),
        by_tests("simulation/kafka/test_any_damage.py::test_a_place_with_another_root_is_not_known"),
    ),
    Bug(
        "any: a copy of a state file is known by its digest alone",
        "A node starts on a copy in the topic that says another root than the append at its place.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.validity:AppendHistory.knows",
                "self.positions.get(position.sequence) == position.digest + position.root",
                "self.digest_at(position.sequence) == position.digest",
            ),
        ),
        by_tests(
            "behaviours/nodes/test_state_kafka.py::test_a_state_file_in_the_log_of_another_root_is_passed_over",
            "laws/test_kafka_rule.py::test_memory_begins_at_a_fold_and_what_was_before_is_no_fork",
        ),
    ),
    Bug(
        "any: the rows of a snapshot are not compared with its tables",
        "A snapshot whose digest fits is believed, though its rows are not those that it names.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.chunks:read_snapshot_rows",
                "if count != chunks[0].rows or wrong:",
                "if count < 0:",
            ),
        ),
        by_tests(
            "simulation/kafka/test_any_damage.py::"
            "test_a_fold_that_was_made_of_wrong_rows_is_dropped_by_name[all appends-a row that never was]"
        ),
    ),
    Bug(
        "any: the rows of a snapshot are not compared with its root",
        "A snapshot of which a row is missing is believed, though its head says another root than its tables come to.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.chunks:read_snapshot_rows",
                "if as_root(stated) != position.root:",
                "if count < 0:",
            ),
        ),
        by_tests(
            "simulation/kafka/test_any_damage.py::"
            "test_a_fold_that_was_made_of_wrong_rows_is_dropped_by_name[all appends-a row is missing]"
        ),
    ),
    Bug(
        "any: the root of a snapshot is not compared with the append at its place",
        "A snapshot that states another root than its append is believed where it is whole.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.validity:find_candidates",
                "elif ordered[0].format == FORMAT and stated.get(position.digest, position.root) != position.root:",
                "elif not snapshot_digest:",
            ),
        ),
        by_tests(
            "simulation/kafka/test_any_damage.py::"
            "test_a_fold_that_was_made_of_wrong_rows_is_dropped_by_name[all appends-another root than the append there]"
        ),
    ),
    Bug(
        "any: a snapshot is made of rows of another root",
        "Rows that are not those of their place are written as a snapshot, and what shows what they should be is deleted.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.chunks:make_chunks",
                "if as_root(roots) != position.root:",
                "if not position.root:",
            ),
        ),
        by_tests(
            "simulation/kafka/test_any_damage.py::"
            "test_nothing_is_folded_where_the_rows_are_not_those_that_the_log_states"
        ),
    ),
    Bug(
        "any: a damaged append that is not the next one is ignored",
        "Only the append that would be valid is held against its digest, so that one whose identity changed is taken for stale.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.reader_state:ReaderState._add_append",
                "if known and not self._is_before_base(claim)",
                "if validity is RecordValidity.VALID",
            ),
        ),
        by_tests(
            "simulation/kafka/test_any_damage.py::test_each_bit_of_an_append_is_noticed[the last append]",
            "simulation/kafka/test_any_harm.py::test_who_starts_finds_what_was_written_or_says_what_is_wrong",
        ),
    ),
    Bug(
        "owner: the root of a mark is not compared",
        "A state of another root than the mark at its offset states is read on from.",
        (
            Edit(
                "treaty.log.kafka.single_writer.state:CompactedState._add_end_record",
                "end.position.agrees(self.position)",
                "end.position == self.position",
            ),
        ),
        by_tests("simulation/kafka/owner/test_owner_damage.py::test_a_state_of_another_root_is_not_read_on_from"),
    ),
    Bug(
        "owner: the check of a mark is not looked at",
        "A mark of which a bit has changed is believed.",
        (
            Edit(
                "treaty.log.kafka.single_writer.records:read_end_record",
                'fits = check == _checksum({**members, "v": END_FORMAT})',
                "fits = version == END_FORMAT",
            ),
        ),
        by_tests(
            "simulation/kafka/owner/test_owner_damage.py::test_each_bit_of_each_record_is_noticed[value-as written]",
            "simulation/kafka/owner/test_owner_damage.py::test_a_mark_that_was_changed_is_named",
        ),
    ),
    Bug(
        "owner: half of a transaction is part of the state that a node shows",
        "Rows that do not come to the root of the last mark are shown, after one reload.",
        (
            Edit(
                "treaty.node.follower:Follower._ready",
                "if as_root(roots_of(delta.rows)) != delta.tip.root:",
                "if not delta.tip.root:",
            ),
        ),
        by_tests("simulation/kafka/owner/test_owner_accepting.py::test_nodes_show_nothing_of_half_a_transaction"),
        also=by_lives(0, ANY, log="owner", events="harmed"),
    ),
    Bug(
        "owner: half a transaction counts as whole",
        "A reader takes a transaction whose rows compaction has partly taken away.",
        (
            Edit(
                "treaty.log.kafka.single_writer.state:CompactedState._is_whole",
                "return len(self._pending) == self._pending_count == end.rows",
                "return len(self._pending) <= end.rows",
            ),
        ),
        by_tests("laws/test_owner_reading.py::test_what_is_shown_was_and_is_whole_and_new"),
    ),
    Bug(
        "sqlite: tombstones are swept too early",
        "What says that a row is gone is forgotten while followers may still need it.",
        (
            Edit(
                "treaty.log.sqlite.connection:SqliteConnection._write",
                "self._db.execute(_SWEEP, (PRUNED_AT_ONCE,))",
                'self._db.execute(_SWEEP.replace("and sequence <= (select min(last) from log_append)", ""), (PRUNED_AT_ONCE,))',
            ),
        ),
        by_tests("behaviours/logs/test_read.py::test_whoever_reads_on_from_any_place_comes_to_the_same_state[sqlite]"),
    ),
    Bug(
        "sqlite: a place is known with any root",
        "Whoever stands on changed rows of a place is told that he knows it.",
        (
            Edit(
                "treaty.log.sqlite.connection:SqliteConnection._read_since",
                "self._db.execute(_KNOWN, (after.sequence, after.identity, after.digest, after.root))",
                'self._db.execute(_KNOWN.replace(" and root = ?", ""), (after.sequence, after.identity, after.digest))',
            ),
        ),
        by_tests("behaviours/logs/test_table_roots.py::test_a_place_is_known_with_its_root_alone[sqlite]"),
    ),
    Bug(
        "sql: table roots that somebody else wrote are believed",
        "An append writes only the table roots that changed since another append of the same connection.",
        (
            Edit(
                "treaty.log.sql:TableRootWriter.changes",
                "known = append.parent == self._digest",
                "known = bool(self._digest)",
            ),
        ),
        by_tests("behaviours/logs/test_table_roots.py::test_table_roots_are_those_of_the_rows_whoever_writes[sqlite]"),
    ),
    Bug(
        "sqlite: an own append answers any question",
        "What an append of the node led to is given to whoever reads next, from whatever place.",
        (
            Edit(
                "treaty.log.sqlite.log:SqliteLog.read",
                "if own_append is not None and own_append[0] == after:",
                "if own_append is not None:",
            ),
        ),
        by_tests("behaviours/logs/test_read.py::test_whoever_reads_on_from_any_place_comes_to_the_same_state[sqlite]"),
    ),
    Bug(
        "append: two commits in the wrong order",
        "Of a row that two commits of one append change, the first change is the last state.",
        (
            Edit(
                "treaty.core.state.commit:Append.rows",
                "for commit in self.commits",
                "for commit in reversed(self.commits)",
            ),
        ),
        by_tests("behaviours/logs/test_append.py::test_a_chain_is_seen_as_a_whole_and_in_its_last_state[sqlite]"),
    ),
    Bug(
        "any: tombstones are ignored",
        "Rows of a fold and of the appends behind it come back though they were deleted.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.reader_state:build_state", "rows.pop((row.table, row.key), None)", "pass"
            ),
        ),
        by_lives(0, ANY, log="any"),
    ),
    Bug(
        "any: two appends in the wrong order",
        "What some appends have changed is told with the oldest state of each row.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.reader_state:collect_changes",
                "for one in appends",
                "for one in reversed([*appends])",
            ),
        ),
        by_lives(0, ANY, log="any"),
    ),
    Bug(
        "any: after a cut the tail skips appends",
        "Who finds that the next offset was cut away goes on at the end.",
        (
            Edit(
                "treaty.log.kafka.multi_writer.tailer:LogTailer._rescan_if_cut",
                "await self._rescan()",
                "self._next = ends.end",
            ),
        ),
        by_lives(0, ANY, log="any"),
    ),
    Bug(
        "any: a closed log goes on to read",
        "Closing a log leaves its tail running.",
        (Edit("treaty.log.kafka.multi_writer.tailer:LogTailer.close", "if self._task is not None:", "if False:"),),
        by_lives(0, "log", log="any", count=10),
    ),
    Bug(
        "owner: no fence after an unknown outcome",
        "An owner goes on after an append of unknown fate, and does not look where its first record lands.",
        (
            Edit(
                "treaty.log.kafka.single_writer.log:SingleWriterLog._commit",
                "if not committed or not await self._wait_until_read(append.position, state): return AppendResult.UNKNOWN",
                "if not committed or not await self._wait_until_read(append.position, state):\n"
                "            self._fenced_generation = generation\n            return AppendResult.UNKNOWN",
            ),
            Edit(
                "treaty.log.kafka.single_writer.state:CompactedState.end",
                "self._next_possible_offset)",
                "self._next_possible_offset) + 2**40",
            ),
        ),
        by_lives(0, ANY, log="owner"),
    ),
    Bug(
        "owner: changes since a forgotten place are told as complete",
        "Who asks for what came after a place that is not remembered gets what is remembered.",
        (
            Edit(
                "treaty.log.kafka.single_writer.state:RecentAppends.changes_since",
                "if not after.agrees(self._base):",
                "if not self._base:",
            ),
        ),
        by_lives(0, ANY, log="owner"),
    ),
    Bug(
        "restore: ids go on where the dump ends",
        "A restore does not raise the counters of ids, so ids that were given after the dump are given again.",
        (Edit("treaty.log.maintenance.restore:_prepare_rows", "decoded.value.highest + gap", "decoded.value.highest"),),
        by_lives(0, "4", events="restored"),
    ),
)
