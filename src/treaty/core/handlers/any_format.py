"""Registration of a text whose sender does not say its format, as those of schema-repo do not."""

from dataclasses import replace

from treaty.core.answers import RegisteredVersion
from treaty.core.command import Command, Decision
from treaty.core.handlers.registration.register import register
from treaty.core.handlers.versions import has_other_formats, latest_version
from treaty.core.messages.groups import ANY_FORMAT, AVRO_1124, FORMAT, SCHEMA_REPO, TEXT_FORMAT
from treaty.core.refusals import FormatNotAllowed, InvalidSchema, NotPermitted, Refusal
from treaty.core.requests import Register
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.view import View

EITHER = ("AVRO", TEXT_FORMAT)
"""What a text is where its subject takes every format: the first of these that it can be."""


def register_any(view: View, command: Command[Register], engine: SchemaEngine) -> Decision[RegisteredVersion]:
    """Decide a registration; a draft of `ANY_FORMAT` is of the first format that it can be read in and its subject takes.

    Raises the refusal of Avro where the subject takes no opaque text.
    """
    request = command.request
    if request.draft.format != ANY_FORMAT:
        return register(view, command, engine)
    first: Refusal | None = None
    for format_ in _formats(view, request):
        attempt = replace(request, draft=replace(request.draft, format=format_))
        try:
            return register(view, replace(command, request=attempt), engine)
        except InvalidSchema as error:
            first = first or error
        except (FormatNotAllowed, NotPermitted) as refused:
            if first is None or refused.reason.rule == "MODE":
                raise
            break
    assert first is not None, "there is a format"
    raise first


def _formats(view: View, request: Register) -> tuple[str, ...]:
    """Return the formats that a text may be of, in the order in which they are tried.

    That is the one which the subject names, or the only one that versions of a subject of another dialect ever had.
    """
    row = view.get(SUBJECT, request.subject)
    home = row or request.create_with
    named = dict(home.properties).get(FORMAT)
    if named is not None:
        return EITHER if named == ANY_FORMAT else (named,)
    latest = None if home.origin in {SCHEMA_REPO, AVRO_1124} else latest_version(view, request.subject)
    if latest is None or has_other_formats(view, request.subject, latest[1].format):
        return EITHER
    return (latest[1].format,)
