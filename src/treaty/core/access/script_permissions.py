"""The permissions that a script needs: those of all of its commands."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from treaty.core.access import source_permissions as sources
from treaty.core.access import statement_permissions
from treaty.core.access.permissions import Required, anywhere, of_subject_in_any_context
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.scripts import PreviewScript, RunScript, SchemaAssertion
from treaty.core.messages.names import GetPin
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import GetVersion

NEEDS_OF: Mapping[type, tuple[str, Callable[[Any], Required]]] = {
    m.CreateSource: ("create-source", sources.importable(statement_permissions.of_create_source)),
    m.ChangeSource: ("change-source", statement_permissions.of_change_source),
    m.SetSourceState: ("set-source-state", sources.of_source("pause")),
    m.DropSource: ("drop-source", sources.importable(sources.of_source("delete"))),
    m.UndropSource: ("undrop-source", sources.of_source("register")),
    m.CreateType: ("create-type", sources.importable(sources.of_source("register"))),
    m.DropType: ("drop-type", sources.importable(sources.of_source("delete"))),
    SchemaAssertion: ("get-version", anywhere("read")),
    m.DescribeSource: ("describe-source", sources.of_source("read")),
    m.DescribeType: ("describe-type", sources.any_source("read")),
    GetPin: ("get-pin", of_subject_in_any_context("read")),
    GetVersion: ("get-version", of_subject_in_any_context("read")),
    GetSchema: ("get-schema", anywhere("read")),
}
"""By class of command or question: the name of its operation, and what it needs."""


def needs_of(request: Any) -> Required:
    """Return what a command of a script, or a question about it, needs by itself."""
    return NEEDS_OF[type(request)][1](request)


def of_script(request: RunScript | PreviewScript) -> Required:
    """Require what each command needs, at its place; and what the question of a preview needs."""
    needs = [
        replace(need, path=f"/members/{place}{need.path}")
        for place, member in enumerate(request.members)
        for command in member.commands
        for need in needs_of(command)
    ]
    questions = request.questions if isinstance(request, PreviewScript) else ()
    return (*needs, *(need for question in questions for need in needs_of(question)))
