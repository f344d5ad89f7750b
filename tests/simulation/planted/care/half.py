"""Planted: nodes serve a log while it is being restored, as if it was whole."""

from treaty.core.state.view import View
from treaty.node import node

LAWS = {"log"}
EVENTS = {"restored"}
PLACE, NAME = node, "explain_unfinished_restore"


def planted(_: View) -> str:
    return ""
