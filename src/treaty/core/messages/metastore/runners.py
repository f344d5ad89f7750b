"""The requests that take, renew and end the lease of a runner and assign parts of sources to it: their members, defaults and answers; decided in
`core/handlers/metastore/runners.py`.
"""

from dataclasses import dataclass

from treaty.core.messages.request import Request


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A part of a source that runs: `query`, its query, or `bad`, what collects the bad rows of another source.

    `source` is the key of the source that the part belongs to, and `generation` its generation. The stream of bad rows of another
    source is a source of its own, with the part `bad`.
    """

    source: str
    generation: int
    part: str = "query"


# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class RunnerLease:
    """The lease of a runner as it is now. Every command of its holder names `epoch`."""

    name: str
    epoch: int
    holder: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class RunnerReleased:
    """A runner has given up `released` of its parts; its lease ended with the last one, unless `more` are left."""

    name: str
    released: int = 0
    more: bool = False


@dataclass(frozen=True, slots=True)
class QueriesAssigned:
    """The parts that the command was to take, which the runner has now, by source and part. The feed of queries has all."""

    runner: str
    epoch: int
    parts: tuple[QueryPart, ...] = ()


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class AcquireRunner(Request[RunnerLease]):
    """Take the lease of a runner: a new one (`epoch` 0), or the one of this epoch, whose holder is gone.

    `holder` is a name of the process, another one for each start. Who has the lease already keeps its epoch and may change its
    `address`, where its status is served. A new holder gets another epoch, the sequence of the commit, and keeps the parts that are
    assigned to the runner. A lease that another principal has taken is for who may plan all sources. `root` is the id of the folder that
    runners share: while one has a lease none of another root gets one (empty: it is not compared).
    """

    name: str
    holder: str
    address: str = ""
    epoch: int = 0
    root: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseRunner(Request[RunnerReleased]):
    """End the lease of this epoch: the runner's row goes, and all of its assignments with it, ASSIGNED_PARTS in one command at most.

    It is sent by the runner that ends, or by another one that has not heard of it: with the credentials by which the lease was taken, or
    with the permission `plan` on all sources. A runner without a lease has none to end.
    """

    name: str
    epoch: int


@dataclass(frozen=True, slots=True)
class AssignQueries(Request[QueriesAssigned]):
    """Assign parts to a runner, and take others from it: all of them or none, in one commit.

    Of a command that is refused, the details of the reason have a line for each part that can't be taken, ``/take/0: …``; the others
    are free still, and are asked for by another command.
    `epoch` is the one of the runner's lease, which another principal acts by only with the permission `plan` on all sources. No other runner has a part of `take`, and its source exists in this
    generation. A part of `release` that the runner does not have is left as it is.
    """

    runner: str
    epoch: int
    take: tuple[QueryPart, ...] = ()
    release: tuple[QueryPart, ...] = ()
