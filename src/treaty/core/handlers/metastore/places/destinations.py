"""Where records of statements go: a source that the caller may insert into, and that no query fills."""

from dataclasses import replace

from treaty.core.access.permissions import TOPIC as TOPIC_KIND
from treaty.core.access.permissions import RequiredPermission, refuse_unless_met
from treaty.core.access.rights import TopicPart
from treaty.core.access.source_permissions import on_path
from treaty.core.command import Command, Decision
from treaty.core.handlers.metastore.names import find_source, source_key
from treaty.core.handlers.metastore.places.sinks import find_writer
from treaty.core.handlers.metastore.places.topics import FILES, KAFKA, refuse_reserved_topic
from treaty.core.messages.metastore.sources import GetDestination, SourceFound
from treaty.core.refusals import InvalidSource
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.view import View

OPERATION = "get-destination"


def get_destination(view: View, command: Command[GetDestination], engine: SchemaEngine) -> Decision[SourceFound]:
    """Return a source that the caller may insert records into."""
    key, source = find_source(view, command.request.name)
    if source.query is not None or source.origin:
        writer = f"the bad rows of {source.origin} are written" if source.origin else "its query writes it"
        raise InvalidSource.of(
            "SOURCE_WRITTEN",
            f"{source.name} takes no records of others: {writer}",
            path="/name",
            new=source.name,
            allowed="a stream or table without a query",
        )
    other = find_writer(view, key, source)
    if other is not None:
        readable = command.access is None or command.access.may_source("read", source_key(other.name).name)
        raise InvalidSource.of(
            "SOURCE_WRITTEN",
            f"{source.name} takes no records of others: a query writes there, that of "
            f"{other.name if readable else 'a source that you may not see'}",
            path="/name",
            new=source.name,
            allowed="a stream or table over a topic or folder that no query fills",
        )
    if source.connector not in {KAFKA, FILES}:
        raise InvalidSource.of(
            "SOURCE_CONNECTOR",
            f"{source.name} is a table of {source.connector}, and records go to topics and folders of files",
            path="/name",
            old=source.connector,
            allowed="a source over kafka or files; a lake table is written by Spark",
        )
    if source.connector == KAFKA:
        refuse_reserved_topic(command, source.place, "/name")
        if command.access is not None:
            kinds = ("value",) if source.key is None else ("key", "value")
            needs = [
                RequiredPermission(("insert",), TOPIC_KIND, TopicPart(source.place, "", kind), "/name")
                for kind in kinds
            ]
            refuse_unless_met(command.access, command.principal, needs, OPERATION)
    elif command.access is not None:
        refuse_unless_met(command.access, command.principal, (on_path("insert", source.place, "/name"),), OPERATION)
    return Decision((), SourceFound(replace(source, extra=())))
