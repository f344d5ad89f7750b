"""Each option of each command that asks a registry changes what it asks: one that is read and lost is found here."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from treaty.assemble import connect
from treaty.cli.main import group
from treaty.cli.registry import connection
from treaty.client.connection import Connection
from treaty.core.messages import groups as g
from treaty.core.messages.request import Request
from treaty.core.names import subject_of
from treaty.core.operations import OPERATIONS
from treaty.core.policy import LATEST
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.state.values import PolicyValue

WORDS: Mapping[str, str] = {
    "search": "x",
    "subject delete": "orders --yes",
    "subject get": "orders",
    "subject list": "",
    "group change": "orders --level FULL",
    "group create": "fresh",
    "group get": "orders",
    "group history": "orders",
    "group list": "",
    "group remove": "orders --yes",
    "group versions": "orders",
    "policy change": "gold FULL",
    "policy create": "silver FULL",
    "policy delete": "gold",
    "policy get": "orders",
    "policy list": "",
    "policy set": "orders FULL",
    "policy show": "gold",
    "codec add": "orders zip",
    "codec list": "orders",
    "encoding assign": "orders 0",
    "encoding get": "orders 0",
    "schema delete": "orders 1 --yes",
    "schema get": "orders",
    "schema list": "",
    "schema lookup": "orders {file}",
    "schema register": "orders {file}",
    "config delete": "orders",
    "config get": "orders",
    "config set": "orders --unset alias_for_deks",
    "mode delete": ":.x:",
    "mode get": "orders",
    "mode set": "orders READONLY",
    "context delete": ".x --yes",
    "context list": "",
    "association create": "topic orders --namespace lkc --id t-1",
    "association delete": "t-2 --yes",
    "association list": "",
}
"""What each command is given."""
VALUES: Mapping[str, str] = {
    "--level": "BACKWARD",
    "--previous": "BACKWARD",
    "--backward": "till:3",
    "--forward": "till:4",
    "--partition": "type",
    "--property": "colour=zz9",
    "--format": "JSON",
    "--reference": "zz9=orders:1",
    "--unset": "normalize",
    "--validator": "max-size(77)",
    "--follow": "gold",
    "--schema": "{file}",
    "--id-scheme": "md5",
    "--codec": "gzip",
    "--limit": "7",
    "--after": "7",
}
"""Values of options whose words are limited; others get ZZ9."""
ALONE: Mapping[str, str] = {"policy set --follow": "orders"}
"""What a command is given with an option that takes the place of something else."""
BESIDE: Mapping[str, str] = {
    "association create --format": "--schema {file}",
    "association create --reference": "--schema {file}",
}
"""What an option needs beside it."""
SILENT = {"--registry", "--json", "--yes", "--strict", "--output-format", "--verbose", "--text"}
"""Options about the output and about questions."""


def commands(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield the commands that ask a registry by a method for each request."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, (*words, name))
    elif "treaty.cli.registry." in getattr(command.callback, "__module__", ""):
        yield " ".join(words), command


COMMANDS = dict(commands(group))
OPTIONS = [
    (name, flag)
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option) and not SILENT.intersection(option.opts)
    for flag in (option.opts[-1], *option.secondary_opts)
]


class Recording:
    """A registry that notes what it is asked."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner
        self.asked: list[Request[Any]] = []

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        self.asked.append(request)
        return self.inner.ask(request, call)

    def close(self) -> None:
        """Leave the registry open."""


def asked_by(name: str, words: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> list[Request[Any]]:
    """Return what a command asks of a registry that has something of each kind; of one that writes what it writes."""
    with connect("memory:") as registry:
        registry.register("orders", '"int"')
        registry.set_mode(":.x:", "IMPORT")
        registry.create_policy("gold", PolicyValue(LATEST, validators=("max-size(5)",)))
        registry.ask(g.CreateSubject(subject_of("packed"), g.GroupSettings("pravega")))
        recording = Recording(registry)

        @contextmanager
        def opened(*_: object) -> Iterator[Connection]:
            yield Connection(recording)

        monkeypatch.setattr(connection, "open_registry", opened)
        CliRunner().invoke(
            group, [*name.split(), *words.replace("{file}", str(file)).split()], env={"TREATY_REGISTRY": "memory:"}
        )
        writes = [one for one in recording.asked if OPERATIONS[type(one)].writes]
        return writes or recording.asked


def test_each_command_is_looked_at() -> None:
    assert COMMANDS.keys() == WORDS.keys()


@pytest.mark.parametrize(("name", "flag"), OPTIONS, ids=[" ".join(one) for one in OPTIONS])
def test_each_option_changes_what_a_command_asks(
    name: str, flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "schema.avsc"
    file.write_text('"string"', "utf-8")
    option = next(one for one in COMMANDS[name].params if flag in (*one.opts, *one.secondary_opts))
    beside = BESIDE.get(f"{name} {flag}", "")
    words = f"{ALONE.get(f'{name} {flag}', WORDS[name])} {beside} {flag}"
    values = [""]
    if not option.is_flag:  # type: ignore[attr-defined]
        values = list(option.type.choices) if isinstance(option.type, click.Choice) else [VALUES.get(flag, "zz9")]
    before = asked_by(name, f"{WORDS[name]} {beside}", file, monkeypatch)
    after = [asked_by(name, f"{words} {value}", file, monkeypatch) for value in values]
    assert before
    assert all(after)
    assert [one for one in after if one != before], "it changes nothing"
    assert len({repr(one) for one in after}) == len(after), "two words mean the same"
