"""Reading ahead: texts of schemas are read before the log is held, so that nobody waits for a parser with it."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from treaty.core.grammar import Answer, Question
from treaty.core.view import Tables
from treaty.node.chain import Decide
from treaty.node.grammar import Sitting
from treaty.node.pending import Pending


class _EnoughError(Exception):
    """The first question was asked."""


@dataclass(frozen=True, slots=True)
class _First:
    """A `Grammar` that answers the first question of a decision, which is about the text, and ends it."""

    sitting: Sitting

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of the formats with a plug-in here."""
        return self.sitting.formats

    @property
    def validators(self) -> frozenset[str]:
        """Names of the validators that are here."""
        return self.sitting.validators

    def ask(self, question: Question) -> Answer | None:
        """Have the answer remembered; the decision is made later."""
        self.sitting.ask(question)
        raise _EnoughError


def read_ahead(batch: Iterable[Pending], tables: Tables, decide: Decide) -> None:
    """Read what commands say that were never decided yet. Nothing is decided, and no fault is told here."""
    for pending in batch:
        if not pending.over and not pending.sitting.pinned:
            with suppress(Exception):  # the decision meets it again
                decide(tables, pending.command, _First(pending.sitting))
