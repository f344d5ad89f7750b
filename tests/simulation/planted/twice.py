"""Planted: nobody asks whether a command was decided before, so a retry after a lost answer runs it again."""

from typing import Any

from treaty.core.command import Command, Decision, OpenQuestions
from treaty.core.decide import decide as original
from treaty.core.refusals import Refusal
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.overlay import Overlay
from treaty.core.state.rows import Row
from treaty.core.state.view import View
from treaty.node import node

LAWS = {"1", "2", "5"}
PLACE, NAME = node, "decide"


def planted(view: View, command: Command[Any], engine: SchemaEngine) -> Decision[Any] | Refusal | OpenQuestions:
    forgetful = Overlay(view)
    forgetful.put([Row("outcome", command.outcome_key, None)])
    forgetful._sequence = view.sequence
    return original(forgetful, command, engine)
