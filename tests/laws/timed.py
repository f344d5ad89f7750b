"""A bench with a clock that the test sets, and with senders and their rights."""

from typing import TypeVar

from tests.laws.toy import Bench
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision, OpenQuestions
from treaty.core.decide import decide
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal

A = TypeVar("A")


class TimedBench(Bench):
    """Commands are of the time `now`, in ms, and of a principal, who has the rights `access`."""

    now = 10_000
    principal = "user:a"
    access: Access | None = None

    def verdict(self, request: Request[A], command_id: str = "") -> Decision[A] | Refusal:
        """Decide at this time."""
        command = Command(request, command_id or f"c{self.clock}", self.now, self.principal, self.access)
        verdict = decide(self.tables, command, self.engine)
        assert not isinstance(verdict, OpenQuestions)
        return verdict
