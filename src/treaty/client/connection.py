"""`Connection`: a registry with a method for each usual request; it returns answers without wrapping.

It is a `Registry` itself, so serializers and caches accept it. The methods are described in `exchanges`.
"""

from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from treaty.client import comparison_exchanges, exchanges, group_exchanges, policy_exchanges, publication_exchanges
from treaty.core.messages.request import Request
from treaty.core.registry import CALL, CallOptions, Exchange, Registry, Reply, method_signature, run_exchange

A = TypeVar("A")
P = ParamSpec("P")
if (
    TYPE_CHECKING
):  # PEP 696: `Connection` alone is that of any metastore; Python has defaults of type variables since 3.13
    from typing_extensions import TypeVar as DefaultTypeVar

    M_co = DefaultTypeVar("M_co", covariant=True, default=Any)
else:
    M_co = TypeVar("M_co", covariant=True)


def _make_method(exchange: Callable[P, Exchange[A]]) -> Callable[Concatenate["Connection[Any]", P], A]:
    """Make a method that runs the exchange and returns its value."""

    @wraps(exchange)
    def method(self: "Connection[Any]", /, *args: P.args, **kwargs: P.kwargs) -> A:
        return run_exchange(self.registry, exchange(*args, **kwargs), self.call)

    method.__signature__ = method_signature(exchange)  # type: ignore[attr-defined]
    return method


class Connection(Generic[M_co]):
    """A registry and the `CallOptions` that its methods are made with."""

    def __init__(
        self,
        registry: Registry,
        call: CallOptions = CALL,
        *,
        open_metastore: Callable[[Registry, CallOptions], M_co] | None = None,
    ) -> None:
        """Make requests of `registry`, which is closed with this one. `open_metastore` gives what `metastore` is."""
        self.registry = registry
        self.call = call
        self._open_metastore = open_metastore

    @property
    def metastore(self) -> M_co:
        """The metastore over the same registry: streams, tables and types. A connection that `treaty.connect` has opened has one;
        another raises `TypeError`.
        """
        if self._open_metastore is None:
            raise TypeError(
                "this connection has no metastore: treaty.connect opens one that has, or treaty.metastore.Metastore(registry)"
            )
        return self._open_metastore(self.registry, self.call)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, request: Request[A], call: CallOptions | None = None) -> Reply[A]:
        """Answer any request, with the token of the state that the answer was taken from."""
        return self.registry.ask(request, call or self.call)

    def close(self) -> None:
        """Close the registry: its connections, threads and files."""
        self.registry.close()

    register = _make_method(exchanges.register)
    derive = _make_method(exchanges.derive)
    lookup = _make_method(exchanges.lookup)
    check = _make_method(exchanges.check)
    diff = _make_method(comparison_exchanges.diff)
    try_change = _make_method(comparison_exchanges.try_change)
    search = _make_method(comparison_exchanges.search)
    version = _make_method(exchanges.version)
    named_version = _make_method(exchanges.named_version)
    find = _make_method(exchanges.find)
    versions = _make_method(exchanges.versions)
    subjects = _make_method(exchanges.subjects)
    schemas = _make_method(exchanges.schemas)
    delete_version = _make_method(exchanges.delete_version)
    delete_subject = _make_method(exchanges.delete_subject)

    schema = _make_method(exchanges.schema)
    by_guid = _make_method(exchanges.by_guid)
    ids_of = _make_method(exchanges.ids_of)
    uses = _make_method(exchanges.uses)
    referenced_by = _make_method(exchanges.referenced_by)

    config = _make_method(exchanges.config)
    set_config = _make_method(exchanges.set_config)
    set_level = _make_method(exchanges.set_level)
    settings = _make_method(exchanges.settings)
    delete_config = _make_method(exchanges.delete_config)
    mode = _make_method(exchanges.mode)
    set_mode = _make_method(exchanges.set_mode)
    delete_mode = _make_method(exchanges.delete_mode)

    contexts = _make_method(exchanges.contexts)
    make_context = _make_method(exchanges.make_context)
    delete_context = _make_method(exchanges.delete_context)

    add_codec = _make_method(group_exchanges.add_codec)
    codecs = _make_method(group_exchanges.codecs)
    assign_encoding = _make_method(group_exchanges.assign_encoding)
    encoding = _make_method(group_exchanges.encoding)
    encodings = _make_method(group_exchanges.encodings)

    create_subject = _make_method(group_exchanges.create_subject)
    change_subject = _make_method(group_exchanges.change_subject)
    remove_subject = _make_method(group_exchanges.remove_subject)
    delete_ordinal = _make_method(group_exchanges.delete_ordinal)
    group = _make_method(group_exchanges.group)
    groups = _make_method(group_exchanges.groups)
    ordinal = _make_method(group_exchanges.ordinal)
    typed_version = _make_method(group_exchanges.typed_version)
    publish = _make_method(publication_exchanges.publish)
    get_published = _make_method(publication_exchanges.get_published)
    list_published = _make_method(publication_exchanges.list_published)
    delete_published = _make_method(publication_exchanges.delete_published)
    put_draft = _make_method(publication_exchanges.put_draft)
    draft = _make_method(publication_exchanges.draft)
    group_versions = _make_method(group_exchanges.group_versions)
    history = _make_method(group_exchanges.history)
    find_same_version = _make_method(group_exchanges.find_same_version)
    find_same_schema = _make_method(group_exchanges.find_same_schema)
    check_reading = _make_method(group_exchanges.check_reading)

    create_policy = _make_method(policy_exchanges.create_policy)
    change_policy = _make_method(policy_exchanges.change_policy)
    delete_policy = _make_method(policy_exchanges.delete_policy)
    policy = _make_method(policy_exchanges.policy)
    policies = _make_method(policy_exchanges.policies)

    add_api_keys = _make_method(publication_exchanges.add_api_keys)
    remove_api_key = _make_method(publication_exchanges.remove_api_key)
    api_keys = _make_method(publication_exchanges.api_keys)

    associations = _make_method(exchanges.associations)
    find_associations = _make_method(exchanges.find_associations)
    associate = _make_method(exchanges.associate)
    dissociate = _make_method(exchanges.dissociate)
    change_associations = _make_method(exchanges.change_associations)

    outcome = _make_method(exchanges.outcome)
