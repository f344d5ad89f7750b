"""Planted: past its deadline every command is told that it failed, even where its append may still land."""

from treaty.core.refusals import Unavailable
from treaty.core.state.view import Tables
from treaty.node.queued_command import QueuedCommand

LAWS = {"2"}
PLACE, NAME = QueuedCommand, "expire"


def planted(self: QueuedCommand, tables: Tables, why: str = "", retry_after: float = 1.0) -> None:
    del tables, why, retry_after
    self.fail(Unavailable("failed"))
