"""Names of versions by id schemes, for every registry: computed ones, given ones, and those of another package."""

import pytest

from treaty.client.connection import Connection
from treaty.core.limits import NAMES_PER_VERSION
from treaty.core.messages.groups import GroupSettings
from treaty.core.messages.settings import Config
from treaty.core.refusals import Invalid, InvalidSchema, InvalidSetting, NameTaken, TooLarge, VersionNotFound
from treaty.core.schema import Draft, Pairs

pytestmark = pytest.mark.parametrize("connection", ["memory", "http", "asyncio-http"], indirect=True)
V1 = '{"type": "int"}'
SPELLED = '{"type":"int"}'
MD5 = "33865377dc63fad265ef74571158cb52"
CRC = "8f5c393f1ad57572"


def make(connection: Connection, *schemes: str, identity: str = "exact") -> None:
    policy = Config(level="NONE")
    connection.create_subject("g", GroupSettings("treaty", identity=identity, policy=policy, schemes=schemes))


def test_every_scheme_of_a_subject_names_a_version(connection: Connection) -> None:
    make(connection, "md5", "sequence", "crc-64-avro", "sha-256")
    made = connection.register("g", V1, names=(("old", "7c1f"),)).version

    assert dict(made.names) == {
        "md5": MD5, "sequence": "1", "crc-64-avro": CRC, "old": "7c1f",
        "sha-256": "3f2b87a9fe7cc9b13835598c3981cd45e3e355309e5090aa0933d7becb6fba45",
    }  # fmt: skip
    assert connection.register("g", V1).version.names == made.names
    assert connection.group_versions("g")[0].names == made.names
    assert connection.version("g", MD5).number == connection.version("g", f"g/{MD5}").number == 1
    for scheme, name in made.names:
        assert connection.named_version("g", name, scheme).schema_id == made.schema_id
    with pytest.raises(VersionNotFound, match="not found"):
        connection.named_version("g", MD5, "sha-256")
    assert connection.check("g", '"long"', MD5).compatible == connection.check("g", '"long"', 1).compatible


def test_versions_share_a_computed_name_and_the_oldest_live_one_is_found(connection: Connection) -> None:
    make(connection, "md5")
    first, second = (connection.register("g", text).version for text in (V1, SPELLED))
    assert (first.ordinal, second.ordinal) == (0, 1)
    assert connection.named_version("g", MD5).ordinal == 0

    connection.delete_ordinal("g", 0)
    assert connection.named_version("g", MD5).ordinal == 1
    connection.delete_version("g", 1, permanent=True)
    assert connection.named_version("g", MD5).ordinal == 1
    connection.delete_ordinal("g", 1)
    assert connection.named_version("g", MD5).deleted
    connection.delete_version("g", 2, permanent=True)
    with pytest.raises(VersionNotFound):
        connection.named_version("g", MD5)


def test_a_given_name_belongs_to_one_version(connection: Connection) -> None:
    make(connection)
    names: Pairs = (("old", "7c1f"),)
    connection.register("g", V1, names=names)
    with pytest.raises(NameTaken, match="7c1f"):
        connection.register("g", '"long"', names=names)
    connection.register("g", '"long"')
    assert connection.register("g", '"long"', names=(("old", "8"),)).version.names == (("old", "8"),)
    assert connection.named_version("g", "8", "old").number == 2

    connection.delete_ordinal("g", 0)
    with pytest.raises(NameTaken):  # its payloads are still about the schema that it had
        connection.register("g", '"string"', names=names)
    assert connection.register("g", V1, names=names).version.number == 3
    assert connection.named_version("g", "7c1f", "old").number == 3


@pytest.mark.parametrize(
    "names", [(("md5", "1"),), (("sequence", "1"),), (("", "1"),), (("old", ""),), (("old", "a\n"),)]
)
def test_a_name_that_can_not_be_given_is_refused(connection: Connection, names: Pairs) -> None:
    with pytest.raises(Invalid):
        connection.register("g", V1, names=names)
    assert connection.subjects() == ()


def test_names_go_with_their_group(connection: Connection) -> None:
    make(connection, "md5")
    connection.register("g", V1, names=(("old", "1"),))
    connection.remove_subject("g")
    make(connection, "sequence")
    connection.register("g", '"long"', names=(("old", "1"),))
    assert connection.named_version("g", "1", "old").text == '"long"'
    with pytest.raises(VersionNotFound):
        connection.named_version("g", MD5, "md5")


def test_a_schema_without_an_id_by_the_first_scheme_is_refused(connection: Connection) -> None:
    make(connection, "crc-64-avro")
    with pytest.raises(InvalidSchema, match="crc-64-avro"):
        connection.register("g", Draft('{"type": "integer"}', "JSON"))
    with pytest.raises(InvalidSetting, match="nobody"):
        connection.create_subject("other", GroupSettings("treaty", schemes=("nobody",)))


def test_names_of_a_version_have_a_limit_all_together(connection: Connection) -> None:
    make(connection, "md5")
    pairs = [tuple((f"old-{at}", str(turn)) for at in range(NAMES_PER_VERSION // 2)) for turn in range(3)]
    for names in (*pairs[:2], pairs[0]):
        made = connection.register("g", V1, names=names).version
    assert len(made.names) == NAMES_PER_VERSION + 1, "a computed one does not count"
    with pytest.raises(TooLarge, match=f"would have {NAMES_PER_VERSION + 1} names"):
        connection.register("g", V1, names=pairs[2][:1])
    assert connection.register("g", V1, names=pairs[1]).version.names == made.names, "what it has, it has"
