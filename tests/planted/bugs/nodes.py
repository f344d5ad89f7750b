"""Bugs planted in the node: its writer, its follower, its state file, its hot answers."""

from tests.planted.bug import Bug, Edit, by_tests

LATEST = r"/subjects/s/versions/latest-Host: h\r\nAccept: */*\r\nUser-Agent: test\r\n-GET"
"""The case of a test, as pytest names it."""

NODES = (
    Bug(
        "writer: a forgotten outcome is sent again",
        "A command whose outcome may be forgotten by now is decided once more, and may run twice.",
        (
            Edit(
                "treaty.node.writer:Writer._sort_out", "if forgotten and pending.sent:", "if forgotten and not tables:"
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
        "state file: lacks the last row of its place",
        "A new state file is written without the last row that came since the old one.",
        (Edit("treaty.node.segment.writing:_newest", "tables.apply(delta.rows,", "tables.apply(delta.rows[:-1],"),),
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
    ),
    Bug(
        "hot: an answer begun before a commit is kept",
        "The memo keeps an answer that was begun before a commit emptied it.",
        (Edit("treaty.api.hot:Memo.keep", "request.epoch != self.epoch or", ""),),
        by_tests("facades/test_hot.py::test_a_commit_empties_the_memo_and_an_answer_begun_before_it_is_not_kept"),
    ),
    Bug(
        "hot: latest is kept",
        "The answer about the latest version is kept as one by number is.",
        (Edit("treaty.api.confluent.subjects:get_version", "x.hot = number != q.LATEST", "x.hot = True"),),
        by_tests(f"facades/test_hot.py::test_what_may_differ_the_next_time_is_asked_again[{LATEST}]"),
    ),
)
