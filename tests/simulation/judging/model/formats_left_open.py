"""Registrations that leave the format of their text open: the subject says it, or the text does."""

from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.registering import register
from tests.simulation.judging.model.sameness import home_of, kinds_in
from treaty.core.messages import groups as g
from treaty.core.messages.registration import Register
from treaty.core.refusals import FormatNotAllowed, InvalidSchema, NotPermitted


def register_any(past: Past, asking: Asking, request: Register) -> Yes:
    """A registration of a draft of any format is one of the first format that is not refused for its text.

    Where a text that nobody can read is not taken, the sender is told why it is no Avro.
    """
    if request.draft.format != g.ANY_FORMAT:
        return register(past, asking, request)
    refused: list[No] = []
    for format_ in _formats(past, request):
        try:
            return register(past, asking, replace(request, draft=replace(request.draft, format=format_)))
        except No as no:
            tried_as_text = bool(refused) and no.kind in {FormatNotAllowed, NotPermitted} and no.rule != "MODE"
            if no.kind is not InvalidSchema and not tried_as_text:
                raise
            refused.append(no)
    raise refused[0]


def _formats(past: Past, request: Register) -> list[str]:
    """The one that the subject names; in a subject of another dialect that names none, the one of all that it ever had."""
    home = home_of(past, request.subject, request.create_with)
    named = dict(home.properties).get(g.FORMAT)
    had = {format_ for format_, _ in kinds_in(past, request.subject)}
    if (
        named is None
        and home.origin not in {"schema-repo", "avro-1124"}
        and past.shown(request.subject)
        and len(had) == 1
    ):
        return [*had]
    return ["AVRO", "TEXT"] if named in {None, g.ANY_FORMAT} else [str(named)]
