"""All that a reader's schema can demand, and the proof of it."""

from treaty.formats.jsonschema.compare.found import Found
from treaty.formats.jsonschema.compare.proof.choices import CHOICE_GOALS
from treaty.formats.jsonschema.compare.proof.prover import Prover
from treaty.formats.jsonschema.compare.proof.scalars import SCALAR_GOALS
from treaty.formats.jsonschema.compare.proof.structures import STRUCTURE_GOALS
from treaty.formats.jsonschema.compare.view import View

GOALS = SCALAR_GOALS + STRUCTURE_GOALS + CHOICE_GOALS


def unproven(writer: View, reader: View, policy: str) -> Found:
    """What could not be shown to follow for the reader; raises `StepsError` past the limit."""
    return Prover(policy, GOALS).prove(writer, reader)
