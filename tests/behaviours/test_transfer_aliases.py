"""Moving a registry whose subjects have aliases: versions stay where they are, whatever an alias says of their subject."""

from dataclasses import replace
from pathlib import Path

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.dump import write_lines
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.registry_image import RegistryImage
from treaty.client.transfer.registry_reader import read
from treaty.core.messages.settings import Config

V1 = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
V2 = V1.replace("]}", ',{"name":"b","type":"int","default":0}]}')


def assert_alike(back: RegistryImage, source: RegistryImage) -> None:
    """A server with Confluent's API alone does not tell what is kept beside records."""
    told = source if back.exact else replace(source, exact=False, groups=(), facts={}, hidden=())
    assert list(write_lines(back)) == list(write_lines(told))


def test_a_subject_with_an_alias_keeps_its_own_versions(connection: Connection, tmp_path: Path) -> None:
    with connect(f"sqlite://{tmp_path / 'source.db'}") as source:
        source.register("old", V1)
        source.register("new", V2)
        source.set_config("old", Config(alias="new"))
        before = read(source)
        assert {(one.subject, one.number) for one in before.versions} == {("old", 1), ("new", 1)}

        assert not write(before, connection).problems
        assert_alike(read(connection), before)
        source.set_config("old", Config(), clear=("alias",))
        source.register("old", V2)
        source.delete_version("old", 1)
        source.set_config("old", Config(alias="new"))
        after = read(source)
        assert not write(after, connection).problems, "now the alias is there before the versions are"
        assert_alike(read(connection), after)
