"""Planted: nodes serve a log while it is being restored, as if it was whole."""

from treaty.core.view import View
from treaty.node import node

LAWS = {"log"}
EVENTS = {"restored"}
PLACE, NAME = node, "unfinished"


def planted(_: View) -> str:
    return ""
