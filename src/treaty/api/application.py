"""The ASGI application of one worker, put together."""

import secrets
from dataclasses import dataclass, field

from treaty.api.confluent.dialect import Dialect
from treaty.api.confluent.openapi import served as described
from treaty.api.confluent.server import LEVEL
from treaty.api.gate import Gate, Inner, RunningNode
from treaty.api.hot import Memo
from treaty.api.metrics import Metrics
from treaty.api.native import NativeDialect
from treaty.api.network.hosts import ANY_HOST, AllowedHosts
from treaty.api.operations import Operations
from treaty.api.protection import Guards
from treaty.core.limits import HOT_BLOCKS
from treaty.core.registry import AsyncRegistry
from treaty.wire.confluent.errors import INCOMPATIBLE


@dataclass(frozen=True, slots=True)
class Application:
    """A gate, and what stands behind it."""

    gate: Gate
    memo: Memo
    metrics: Metrics
    member: RunningNode = field(repr=False)
    guards: Guards | None = None


def application(
    member: RunningNode,
    metrics: Metrics | None = None,
    memo: Memo | None = None,
    guards: Guards | None = None,
    *,
    incompatible: int = INCOMPATIBLE,
    inner: Inner | None = None,
    hosts: AllowedHosts = ANY_HOST,
) -> Application:
    """Build the application over a running member; its commits make it forget hot reads.

    With `guards`, dialects have the member only through them. `incompatible` is the error code of incompatible schemas.
    `inner` is the door of other nodes. `hosts` are those that it may be asked under.
    """
    metrics, memo = metrics or Metrics(), memo or Memo()
    member.on_change(memo.empty)
    pages = {
        **Operations(member, metrics, memo, LEVEL, guards is not None and guards.read_only).paths(),
        **described.PAGES,
    }
    registry: AsyncRegistry = member
    if guards is not None:
        registry = guards.before(member)
        if guards.admission is not None:
            memo.seal, memo.most_blocks = secrets.token_bytes(32), HOT_BLOCKS
            guards.admission.forget = memo.forget
    admit = guards.admit if guards is not None else None
    native = NativeDialect(registry, incompatible)
    exact = {native.path: native}
    gate = Gate(Dialect(registry, incompatible), metrics, exact, pages, admit=admit, inner=inner, hosts=hosts)
    return Application(gate, memo, metrics, member, guards)
