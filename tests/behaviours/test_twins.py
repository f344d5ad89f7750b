"""`Connection` and `AsyncConnection` run the same exchanges: they have the same methods with the same parameters."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from treaty.client import comparison_exchanges, exchanges, group_exchanges, policy_exchanges, publication_exchanges
from treaty.client.async_connection import AsyncConnection
from treaty.client.connection import Connection

ARGUMENTS = {"as_draft", "as_scope", "number_of", "method_signature", "request_answer"}
"""Functions of the modules that are no methods."""


def methods(kind: type) -> dict[str, Callable[..., Any]]:
    return {name: member for name, member in vars(kind).items() if callable(member) and not name.startswith("_")}


def described() -> dict[str, Callable[..., Any]]:
    modules = (comparison_exchanges, exchanges, group_exchanges, policy_exchanges, publication_exchanges)
    found = (each for module in modules for each in inspect.getmembers(module, inspect.isfunction))
    homes = {module.__name__ for module in modules}
    return {name: each for name, each in found if each.__module__ in homes and name not in ARGUMENTS}


@pytest.mark.parametrize("kind", [Connection, AsyncConnection])
def test_a_connection_has_a_method_for_every_exchange(kind: type) -> None:
    assert len(described()) > 25
    assert set(methods(kind)) - {"ask", "close"} == set(described())


@pytest.mark.parametrize("kind", [Connection, AsyncConnection])
def test_a_method_shows_the_parameters_and_the_answer_of_its_exchange(kind: type) -> None:
    made = methods(kind)
    for name, exchange in described().items():
        first, *rest = inspect.signature(made[name]).parameters.values()
        assert first.name == "self"
        assert rest == list(inspect.signature(exchange).parameters.values())
        assert made[name].__doc__ == exchange.__doc__
    assert inspect.signature(made["versions"]).return_annotation == tuple[int, ...]


def test_methods_of_asyncio_are_coroutine_functions() -> None:
    assert all(inspect.iscoroutinefunction(method) for method in methods(AsyncConnection).values())
    assert not any(inspect.iscoroutinefunction(method) for method in methods(Connection).values())
