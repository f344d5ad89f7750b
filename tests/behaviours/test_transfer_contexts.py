"""Moving contexts: one that its registry has deleted stays deleted, and the ids that it gave are not given again."""

import pytest

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.dump import read_lines, write_lines
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.registry_reader import read
from treaty.core.requests import DeleteContext


def fill_and_delete(registry: Connection, context: str, count: int) -> None:
    for number in range(count):
        registry.register(f":{context}:s", f'{{"type":"fixed","name":"F","size":{number + 1}}}')
    if registry.subjects(f":{context}:"):
        registry.delete_subject(f":{context}:s")
        registry.delete_subject(f":{context}:s", permanent=True)
    registry.ask(DeleteContext(context))


@pytest.mark.parametrize("through", ["registry", "dump"])
def test_ids_of_a_deleted_context_are_not_given_again_after_a_move(connection: Connection, through: str) -> None:
    with connect("memory:") as source:
        source.set_level(":*:", "NONE")
        source.register("kept", '"int"')
        fill_and_delete(source, ".gone", 3)
        image = read(source)
        assert image.contexts == (".",)
        assert dict(image.highest) == {".gone": 3}
        if through == "dump":
            image = read_lines([*write_lines(image)])
    report = write(image, connection)
    assert report.problems == ()
    assert connection.contexts() == (".",)
    assert read(connection).highest == image.highest
    assert write(image, connection).written == 0, "nothing is left to do"
    assert connection.register(":.gone:new", '"long"').version.schema_id == 4


def test_a_context_that_the_target_has_stays_when_the_source_deleted_its_own(connection: Connection) -> None:
    connection.register(":.gone:mine", '"string"')
    with connect("memory:") as source:
        source.set_level(":*:", "NONE")
        fill_and_delete(source, ".gone", 3)
        report = write(read(source), connection)
    assert report.problems == ()
    assert connection.contexts() == (".", ".gone")
    assert connection.version(":.gone:mine", 1).schema_id == 1
    assert connection.register(":.gone:mine", '"string"').version.schema_id == 1
    assert connection.register(":.gone:other", '"long"').version.schema_id == 4
