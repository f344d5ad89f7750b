"""Bugs planted in the node: its writer, its follower, its state file, its hot answers."""

from tests.planted.bug import ANY, Bug, Edit, by_lives, by_tests

LATEST = r"/subjects/s/versions/latest-Host: h\r\nAccept: */*\r\nUser-Agent: test\r\n-GET"
"""The case of a test, as pytest names it."""

NODES = (
    Bug(
        "writer: a forgotten outcome is sent again",
        "A command whose outcome may be forgotten by now is decided once more, and may run twice.",
        (
            Edit(
                "treaty.node.queued_command:UnseenCommit.is_forgotten",
                "self.after + OUTCOMES",
                "self.after + 99 * OUTCOMES",
            ),
        ),
        by_tests("behaviours/nodes/test_writing.py::test_what_is_no_longer_remembered_is_unknown_and_never_run_again"),
    ),
    Bug(
        "token: of a lost history is taken",
        "The digest of a token is not held against the place that the node remembers.",
        (Edit("treaty.node.node:Node._shows", "or (digest is not None and digest.hex() != token.digest)", ""),),
        by_tests("behaviours/nodes/test_reading.py::test_a_token_of_another_history_is_refused"),
    ),
    Bug(
        "reload: nobody is told",
        "After everything was read anew nobody who keeps answers is called.",
        (
            Edit(
                "treaty.node.follower:Follower._take",
                "if self.position != before or delta.reload:",
                "if self.position != before and not delta.reload:",
            ),
        ),
        by_tests(
            "behaviours/nodes/test_writing.py::test_who_listens_hears_of_a_change_before_it_is_answered",
            error="IndexError: list index out of range",  # the test looks at what was heard last, and nothing was
        ),
    ),
    Bug(
        "strict: an append of unknown fate is a proof",
        "A strict read is answered when the append that it waits for has met no answer.",
        (
            Edit(
                "treaty.node.writer:Writer._round",
                "self._counts.unknown += 1",
                "self._counts.unknown += 1; self._queue.barriers.accepted(sent.barrier)",
            ),
        ),
        by_tests("behaviours/nodes/test_strict.py::test_an_append_whose_fate_is_not_known_proves_nothing"),
        also=by_lives(155, "1 3", log="any"),
    ),
    Bug(
        "state file: lacks the last row of its place",
        "A new state file is written without the last row that came since the old one.",
        (
            Edit(
                "treaty.node.segment.state_writer:_newest", "tables.apply(delta.rows,", "tables.apply(delta.rows[:-1],"
            ),
            Edit(
                "treaty.node.segment.state_writer:_differs", "if found == position.root:", "if found:"
            ),  # else noticed there
        ),
        by_tests("behaviours/nodes/test_state_file.py::test_what_came_after_the_file_is_read_from_the_log"),
    ),
    Bug(
        "state file: a change-over tells nobody",
        "After a change-over nobody who keeps answers is called, so hot answers stay.",
        (Edit("treaty.node.follower:Follower.change_over", "self._announce()", "pass"),),
        by_tests(
            "behaviours/nodes/test_change_over.py::test_whoever_keeps_answers_is_called_at_every_change_over",
            "facades/test_hot.py::test_a_change_over_to_a_state_file_empties_the_memo",
        ),
        also=by_lives(7, "3"),
    ),
    Bug(
        "hot: an answer begun before a commit is kept",
        "The memo keeps an answer that was begun before a commit emptied it.",
        (Edit("treaty.api.response_cache:ResponseCache.keep", "request.epoch != self.epoch or", ""),),
        by_tests("facades/test_hot.py::test_a_commit_empties_the_memo_and_an_answer_begun_before_it_is_not_kept"),
    ),
    Bug(
        "hot: latest is kept",
        "The answer about the latest version is kept as one by number is.",
        (Edit("treaty.api.confluent.subjects:get_version", "x.hot = number != q.LATEST", "x.hot = True"),),
        by_tests(f"facades/test_hot.py::test_what_may_differ_the_next_time_is_asked_again[{LATEST}]"),
    ),
    Bug(
        "writer: an unknown append counts as accepted",
        "An append of unknown fate is answered as one that is durable.",
        (
            Edit(
                "treaty.node.writer:Writer._round",
                "elif sent.fate is AppendResult.ACCEPTED:",
                "elif sent.fate in {AppendResult.ACCEPTED, AppendResult.UNKNOWN}:",
            ),
        ),
        by_tests(
            "behaviours/nodes/test_writing.py::test_what_is_no_longer_remembered_is_unknown_and_never_run_again",
            "behaviours/nodes/test_writing.py::test_closing_tells_everybody_who_waits",
        ),
    ),
    Bug(
        "writer: a second try that comes second says that the first landed",
        "When the append that is sent again meets a conflict, the first one is taken for the one that won.",
        (
            Edit(
                "treaty.node.writer:Writer._settle",
                "if fate is AppendResult.CONFLICT and not self._log.single_writer: continue",
                "if fate is AppendResult.CONFLICT and not self._log.single_writer: return append",
            ),
        ),
        by_tests(
            "behaviours/nodes/test_strict.py"
            "::test_an_append_that_comes_second_when_it_is_sent_again_did_not_land_before"
        ),
    ),
    Bug(
        "chain: a refusal is told before its chain lands",
        "A refusal that was decided on commits of a chain is told before they are durable.",
        (
            Edit(
                "treaty.node.batch:_add_without_rows",
                "batch.members.append((command, result, MemberReason.FOLLOWS))",
                "batch.proven.append((command, result)) if batch.commits and isinstance(result, Refusal) else "
                "batch.members.append((command, result, MemberReason.FOLLOWS))",
            ),
        ),
        by_lives(0, ANY),
    ),
    Bug(
        "look: numbered one too high",
        "A look that has ended counts as the one that began after it.",
        (Edit("treaty.node.follower:Follower._catch_up_all", "self.finish(number)", "self.finish(number + 1)"),),
        by_lives(36, ANY),
    ),
    Bug(
        "deadline: an open append is told as nothing left",
        "At its deadline a command whose append may still land is told that it has left nothing.",
        (
            Edit(
                "treaty.node.queued_command:QueuedCommand.may_be_in_log",
                "if unseen is None:",
                "if unseen is None or isinstance(self.state, SentState):",
            ),
        ),
        by_lives(0, "2"),
    ),
    Bug(
        "state file: a change-over loses the last row",
        "The last row that came after a state file is left out when the node changes over to it.",
        (
            Edit(
                "treaty.node.follower:Follower.change_over",
                "partial(ready, delta.rows,",
                "partial(ready, delta.rows[:-1],",
            ),
            Edit(
                "treaty.node.segment.layered:LayeredTables.advance", "!= position.root", "== position"
            ),  # else noticed
        ),
        by_lives(0, ANY),
    ),
    Bug(
        "segment: a deleted key is found again",
        "An index of layered tables finds keys of the state file that were deleted since.",
        (
            Edit(
                "treaty.node.segment.layered:LayeredTables.find",
                "merge((key for key in below if key not in covered) if covered else below, over)",
                "merge(below, over)",
            ),
        ),
        by_lives(8, ANY),
    ),
    Bug(
        "memo: compare(a, b) answers compare(b, a)",
        "Answers about compatibility are remembered without who reads and who writes.",
        (
            Edit(
                "treaty.node.schema_service:key_of",
                "return (policy, reader.digest, writer.digest, ())",
                "return (policy, min(reader.digest, writer.digest), max(reader.digest, writer.digest), ())",
            ),
        ),
        by_lives(0, ANY),
    ),
    Bug(
        "forwarding: a command whose node went away counts as not sent",
        "When another node breaks off, a command that it has is taken for one that never left.",
        (Edit("treaty.node.forwarder:CommandForwarder._asked", "if not away.left:", "if away:"),),
        by_lives(0, "1 2", log="owner"),
    ),
)
