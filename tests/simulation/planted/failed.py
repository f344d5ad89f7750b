"""Planted: past its deadline every command is told that it failed, even where its append may still land."""

from treaty.core.refusals import Unavailable
from treaty.node.pending import Pending

LAWS = {"2"}
PLACE, NAME = Pending, "expire"


def planted(self: Pending, why: str = "") -> None:
    del why
    self.fail(Unavailable("failed"))
