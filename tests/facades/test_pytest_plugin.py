"""The fixtures of pytest, as a user's tests see them: in a run of its own, in a folder of its own."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]

PROGRAM = """
import asyncio
import pytest
import treaty
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.core.refusals import Incompatible

def test_in_process(treaty_registry):
    made = treaty_registry.register_file("order.avsc", "orders-value")
    assert (made.schema_id, made.number, made.format) == (1, 1, "AVRO")
    assert treaty_registry.register_file("ping.proto").subject == "ping"
    assert treaty_registry.register_file("note.txt", format="JSON").format == "JSON"
    with pytest.raises(ValueError, match="which format"):
        treaty_registry.register_file("note.txt")
    data = AvroSerializer(treaty_registry.registry, made.text)({"id": 7}, "orders").data
    assert AvroDeserializer(treaty_registry.registry)(data, "orders") == {"id": 7}
    with pytest.raises(Incompatible):
        treaty_registry.registry.register("orders-value", '"string"')

def test_is_empty_again(treaty_registry):
    assert treaty_registry.registry.subjects() == ()

def test_over_http(treaty_registry):
    treaty_registry.register_file("order.avsc", "orders-value")
    assert treaty_registry.url == treaty_registry.url
    with treaty.connect(treaty_registry.url) as client:
        assert client.subjects() == ("orders-value",)
        client.register("notes", '"string"')
    assert treaty_registry.registry.subjects() == ("notes", "orders-value")

def test_confluents_client(treaty_registry):
    from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
    with SchemaRegistryClient({"url": treaty_registry.url}) as client:
        assert client.register_schema("s", Schema('"string"', "AVRO")) == 1
    assert treaty_registry.registry.schema(1).text == '"string"'

def test_asyncio(treaty_registry):
    async def names():
        async with treaty.connect_async(treaty_registry.url) as client:
            await client.register("orders", '"string"')
            return await client.subjects()
    assert asyncio.run(names()) == ("orders",)

def test_shared_one(treaty_registry_session):
    treaty_registry_session.registry.register("shared", '"string"')
    pytest.url = treaty_registry_session.url

def test_shared_two(treaty_registry_session, treaty_registry):
    assert treaty_registry_session.registry.subjects() == ("shared",)
    assert treaty_registry_session.url == pytest.url != treaty_registry.url
    assert treaty_registry.registry.subjects() == ()
"""
"""What a user may write."""

QUIET = ("-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:schemathesis", "-q", "-W", "error")


def test_the_plugin_is_found_by_its_entry_point() -> None:
    (found,) = (each for each in entry_points(group="pytest11") if each.name == "treaty")
    assert found.value == "treaty.testing.plugin"


def test_a_registry_for_each_test_and_one_for_all(pytester: pytest.Pytester) -> None:
    pytester.makefile(".avsc", order='{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}')
    pytester.makefile(".proto", ping='syntax = "proto3";\nmessage Ping { int32 id = 1; }')
    pytester.makefile(".txt", note='{"type": "object"}')
    pytester.makepyfile(PROGRAM)
    result = pytester.runpytest_subprocess(*QUIET)
    result.assert_outcomes(passed=7)


def test_nothing_is_left_when_the_tests_are_over(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_one="""
        import socket, threading
        from urllib.parse import urlsplit
        kept = []

        def test_fails(treaty_registry):
            kept.append(urlsplit(treaty_registry.url).port)
            kept.append(socket.create_connection(("127.0.0.1", kept[0])))
            raise AssertionError("on purpose")

        def test_is_gone():
            assert kept[1].recv(1) == b""
            kept[1].close()
            with socket.socket() as probe:
                assert probe.connect_ex(("127.0.0.1", kept[0])) != 0
            assert [thread.name for thread in threading.enumerate() if "treaty" in thread.name] == []
        """
    )
    pytester.runpytest_subprocess(*QUIET).assert_outcomes(passed=1, failed=1)


def test_a_run_that_asks_for_no_registry_loads_none(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys
        def test_loads_nothing():
            loaded = {name for name in sys.modules if name.startswith("treaty")}
            assert loaded == {"treaty", "treaty.names", "treaty.testing", "treaty.testing.plugin"}
        """
    )
    pytester.runpytest_subprocess(*QUIET).assert_outcomes(passed=1)


@pytest.mark.parametrize("module", ["treaty.assemble", "treaty.cli.main", "treaty.cli.serve", "treaty.spark.decode"])
def test_programs_never_load_pytest(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert module in loaded
    assert not {name for name in loaded if name.split(".")[0] in {"pytest", "_pytest"} or name == "treaty.testing"}
