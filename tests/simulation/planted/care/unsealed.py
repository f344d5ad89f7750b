"""Planted: nodes write to a log that was moved elsewhere."""

from treaty.core.state.view import View
from treaty.node import queue

LAWS = {"log"}
EVENTS = {"moved"}
PLACE, NAME = queue, "explain_sealed_log"


def planted(_: View) -> str:
    return ""
