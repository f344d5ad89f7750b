"""The requests that create, change, delete and list named policies: their members, defaults and answers; decided in
`core/handlers/named_policies.py`. A config that follows a policy has all that the policy says (AVRO-1124, "compatibility_model").
"""

from dataclasses import dataclass

from treaty.core.messages.request import Request
from treaty.core.state.values import PolicyValue

# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class PolicyFound:
    """A named policy: ranges, denial, partition, strictness and validators."""

    name: str
    policy: PolicyValue


@dataclass(frozen=True, slots=True)
class PolicyStored:
    """A policy that exists now; `created` is False where it existed before."""

    found: PolicyFound
    created: bool = False


@dataclass(frozen=True, slots=True)
class PolicyDeleted:
    """The policy that was deleted."""

    found: PolicyFound


@dataclass(frozen=True, slots=True)
class Policies:
    """A page of policies, by name. `last` is the name of the last one, for `after` of the next page."""

    policies: tuple[PolicyFound, ...]
    last: str = ""


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class CreatePolicy(Request[PolicyStored]):
    """Create a policy. One of the same name and value exists already, with another value it is refused."""

    name: str
    policy: PolicyValue


@dataclass(frozen=True, slots=True)
class ChangePolicy(Request[PolicyStored]):
    """Replace a policy, for all configs that follow it.

    With `previous` the policy must be this one, compared in the same decision; else `PreviousLevelDiffers`. A range that begins
    at a version is refused where a subject that follows the policy has no such version.
    """

    name: str
    policy: PolicyValue
    previous: PolicyValue | None = None


@dataclass(frozen=True, slots=True)
class DeletePolicy(Request[PolicyDeleted]):
    """Delete a policy; refused while a config follows it, or has a validator that compares by it."""

    name: str


# -------------------------------------------------------------------------------------------------------- queries


@dataclass(frozen=True, slots=True)
class GetPolicy(Request[PolicyFound]):
    """A policy by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class ListPolicies(Request[Policies]):
    """Policies by name; at most `limit` after the name `after`."""

    after: str = ""
    limit: int = 100
