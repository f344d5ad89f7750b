"""The ASGI application of one worker, put together."""

from dataclasses import dataclass, field

from treaty.api.confluent.dialect import Dialect
from treaty.api.confluent.paths import Aliases
from treaty.api.gate import Gate
from treaty.api.hot import Memo
from treaty.api.member import Member
from treaty.api.metrics import Metrics
from treaty.api.operations import Operations


@dataclass(frozen=True, slots=True)
class Application:
    """A gate, and what stands behind it."""

    gate: Gate
    memo: Memo
    metrics: Metrics
    member: Member = field(repr=False)


def application(member: Member, metrics: Metrics | None = None, memo: Memo | None = None) -> Application:
    """Build the application over a running member; its commits make it forget hot reads and aliases."""
    metrics, memo = metrics or Metrics(), memo or Memo()
    aliases = Aliases(member)
    member.on_change(memo.empty)
    member.on_change(aliases.empty)
    pages = Operations(member, metrics, memo).paths()
    return Application(Gate(Dialect(member, aliases), metrics, pages), memo, metrics, member)
