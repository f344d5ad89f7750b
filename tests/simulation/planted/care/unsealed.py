"""Planted: nodes write to a log that was moved elsewhere."""

from treaty.core.view import View
from treaty.node import queue

LAWS = {"log"}
EVENTS = {"moved"}
PLACE, NAME = queue, "sealed"


def planted(_: View) -> str:
    return ""
