"""Bugs planted in the privacy of subjects: who learns of a private one, by lists, ids, content, outcomes and refusals."""

from tests.planted.bug import Bug, ByLives, Edit, found_by
from tests.simulation.clients.private import EVERY, ONE

VIEW, SUBJECTS = "treaty.core.access.authorized_view:", "treaty.core.access.private_subjects:"
LAWS = frozenset(["1", "2", "3", "4", "5", "6", "root", "rights", "log"])
"""Whichever law breaks first; an error of the planted code itself is none."""
LAW = "laws/test_private_subjects.py::test_"


def private(name: str, does: str, target: str, old: str, new: str, first: int = ONE) -> Bug:
    """A bug in what hides private subjects; the lives from the first one on that have private families find it."""
    lives = ByLives("rows", range(first, first + 40 * EVERY, EVERY), LAWS)
    return Bug(f"private: {name}", does, (Edit(target, old, new),), lives)


PRIVATE = (
    private(
        "a private subject is listed to others",
        "Who may read everything by a wildcard sees private subjects in lists and everywhere else.",
        VIEW + "readable_view",
        "(access.sees_all and not hides_subjects(view, access))",
        "access.sees_all",
    ),
    private(
        "a look-up by content tells a private one",
        "Indexes over all subjects, by id, content and identity, are not filtered.",
        VIEW + "AuthorizedView.find",
        "return filter(self.reads, keys)",
        "return keys",
    ),
    private(
        "a wildcard counts for private subjects",
        "A pattern that names no vendor covers private subjects.",
        "treaty.core.access.rights:AccessRule.subjects_for",
        "if not private or self.private:",
        "if True:",
    ),
    private(
        "the highest id counts what is hidden",
        "Who asks for the highest id of a context hears of the ids of private schemas.",
        VIEW + "AuthorizedView.get",
        "if table is t.COUNTER and key[0] == t.IDS and (self._hiding or not",
        "if table is t.COUNTER and key[0] == t.IDS and (not",
        65,
    ),
    private(
        "a hidden subject is changed",
        "A command that reaches a private subject is not refused to those who may not read it.",
        SUBJECTS + "refuse_hidden_changes",
        "if subject is not None and view.hides(subject):",
        "if False:",
        17,
    ),
    private(
        "anybody makes a private subject",
        "Who may create subjects by a wildcard makes a private one.",
        SUBJECTS + "refuse_unless_private_creator",
        'not access.may("create", subject, private=True)',
        'not access.may("create", subject)',
        77,
    ),
    found_by(
        private(
            "a private draft is shown",
            "A draft of a public family is shown to all who may read that family.",
            "treaty.core.handlers.schemaver.queries:get_draft",
            'access.may("read", request.subject, private=value is not None and value.private)',
            'access.may("read", request.subject)',
        ),
        LAW + "a_private_draft_is_neither_read_nor_replaced_by_who_may_not_read_it",
    ),
    found_by(
        private(
            "an outcome tells of a private subject",
            "An administrator by a wildcard reads what a command on a private subject was answered.",
            "treaty.core.handlers.queries:get_outcome",
            "if _may_hear(view, command.access, value)",
            "if True",
        ),
        LAW + "an_outcome_does_not_tell_of_a_private_subject",
    ),
    private(
        "an outcome forgets that it was about a private subject",
        "What a command on a private subject was answered is told to everybody once the subject is gone.",
        "treaty.core.outcomes:record_outcome",
        "Outcome(sequence, kind, members, private)",
        "Outcome(sequence, kind, members)",
    ),
    found_by(
        private(
            "who reads nothing sees a private subject",
            "Who may change settings by a wildcard, and read nothing, sees those of a private subject.",
            VIEW + "AuthorizedView.get",
            "is_hidden(self._base, self._access, subject)",
            'self._access.may("read", subject) and not self.reads(subject)',
        ),
        LAW + "who_may_change_settings_by_a_wildcard_and_read_nothing_sees_no_private_subject",
    ),
    found_by(
        private(
            "an export names a private subject that is gone",
            "The counter of encoding ids, which stays when a private subject is removed, is exported to everybody.",
            "treaty.core.handlers.groups.exports:export_subjects",
            "value is not None or not one.private or _sees_private(command.access, subject)",
            "True",
        ),
        LAW + "an_export_names_no_private_subject_that_is_gone",
    ),
    found_by(
        private(
            "an alias leads to a private subject",
            "The alias of a private subject is shown to others, who are led to its name.",
            SUBJECTS + "shown_value",
            "if not hidden:",
            "if True:",
        ),
        LAW + "the_alias_of_a_private_subject_leads_nowhere_for_who_may_not_read_it",
    ),
    found_by(
        private(
            "a config loses the alias that its writer does not see",
            "Who changes the config of an alias takes from it what it says of a private subject.",
            SUBJECTS + "keep_hidden_aliases",
            "if kept else row",
            "if False else row",
        ),
        LAW + "what_a_config_says_of_a_private_subject_stays_when_others_change_it",
    ),
    found_by(
        private(
            "a public schema refers to a private one",
            "A schema that everybody may read names a private subject, and says by comparisons what is in it.",
            "treaty.core.handlers.registration.state:refuse_private_targets",
            "if is_private(view, target):",
            "if False:",
        ),
        LAW + "a_public_schema_does_not_refer_to_a_private_one",
    ),
)
