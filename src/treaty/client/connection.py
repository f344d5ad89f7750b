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


def _blocking(exchange: Callable[P, Exchange[A]]) -> Callable[Concatenate["Connection[Any]", P], A]:
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

    register = _blocking(exchanges.register)
    derive = _blocking(exchanges.derive)
    lookup = _blocking(exchanges.lookup)
    check = _blocking(exchanges.check)
    diff = _blocking(comparison_exchanges.diff)
    try_change = _blocking(comparison_exchanges.try_change)
    search = _blocking(comparison_exchanges.search)
    version = _blocking(exchanges.version)
    named_version = _blocking(exchanges.named_version)
    find = _blocking(exchanges.find)
    versions = _blocking(exchanges.versions)
    subjects = _blocking(exchanges.subjects)
    schemas = _blocking(exchanges.schemas)
    delete_version = _blocking(exchanges.delete_version)
    delete_subject = _blocking(exchanges.delete_subject)

    schema = _blocking(exchanges.schema)
    by_guid = _blocking(exchanges.by_guid)
    ids_of = _blocking(exchanges.ids_of)
    uses = _blocking(exchanges.uses)
    referenced_by = _blocking(exchanges.referenced_by)

    config = _blocking(exchanges.config)
    set_config = _blocking(exchanges.set_config)
    set_level = _blocking(exchanges.set_level)
    settings = _blocking(exchanges.settings)
    delete_config = _blocking(exchanges.delete_config)
    mode = _blocking(exchanges.mode)
    set_mode = _blocking(exchanges.set_mode)
    delete_mode = _blocking(exchanges.delete_mode)

    contexts = _blocking(exchanges.contexts)
    make_context = _blocking(exchanges.make_context)
    delete_context = _blocking(exchanges.delete_context)

    add_codec = _blocking(group_exchanges.add_codec)
    codecs = _blocking(group_exchanges.codecs)
    assign_encoding = _blocking(group_exchanges.assign_encoding)
    encoding = _blocking(group_exchanges.encoding)
    encodings = _blocking(group_exchanges.encodings)

    create_subject = _blocking(group_exchanges.create_subject)
    change_subject = _blocking(group_exchanges.change_subject)
    remove_subject = _blocking(group_exchanges.remove_subject)
    delete_ordinal = _blocking(group_exchanges.delete_ordinal)
    group = _blocking(group_exchanges.group)
    groups = _blocking(group_exchanges.groups)
    ordinal = _blocking(group_exchanges.ordinal)
    typed_version = _blocking(group_exchanges.typed_version)
    publish = _blocking(publication_exchanges.publish)
    get_published = _blocking(publication_exchanges.get_published)
    list_published = _blocking(publication_exchanges.list_published)
    delete_published = _blocking(publication_exchanges.delete_published)
    put_draft = _blocking(publication_exchanges.put_draft)
    draft = _blocking(publication_exchanges.draft)
    group_versions = _blocking(group_exchanges.group_versions)
    history = _blocking(group_exchanges.history)
    find_same_version = _blocking(group_exchanges.find_same_version)
    find_same_schema = _blocking(group_exchanges.find_same_schema)
    check_reading = _blocking(group_exchanges.check_reading)

    create_policy = _blocking(policy_exchanges.create_policy)
    change_policy = _blocking(policy_exchanges.change_policy)
    delete_policy = _blocking(policy_exchanges.delete_policy)
    policy = _blocking(policy_exchanges.policy)
    policies = _blocking(policy_exchanges.policies)

    add_api_keys = _blocking(publication_exchanges.add_api_keys)
    remove_api_key = _blocking(publication_exchanges.remove_api_key)
    api_keys = _blocking(publication_exchanges.api_keys)

    associations = _blocking(exchanges.associations)
    find_associations = _blocking(exchanges.find_associations)
    associate = _blocking(exchanges.associate)
    dissociate = _blocking(exchanges.dissociate)
    change_associations = _blocking(exchanges.change_associations)

    outcome = _blocking(exchanges.outcome)
