"""Methods of a connection for named policies; exchanges as in `exchanges`."""

from treaty.core.limits import POLICIES_PAGE
from treaty.core.messages.policies import (
    ChangePolicy,
    CreatePolicy,
    DeletePolicy,
    GetPolicy,
    ListPolicies,
    PolicyFound,
    PolicyStored,
)
from treaty.core.registry import Exchange, request_answer
from treaty.core.state.values import PolicyValue


def create_policy(name: str, policy: PolicyValue) -> Exchange[PolicyStored]:
    """Create a policy that configs may follow. Raises `NotPermitted` where there is one with another value."""
    return (yield from request_answer(CreatePolicy(name, policy)))


def change_policy(name: str, policy: PolicyValue, *, previous: PolicyValue | None = None) -> Exchange[PolicyFound]:
    """Replace a policy for all that follow it. Raises `PreviousLevelDiffers` where it is not `previous`."""
    return (yield from request_answer(ChangePolicy(name, policy, previous))).found


def delete_policy(name: str) -> Exchange[PolicyFound]:
    """Delete a policy that no config uses; returns what it was."""
    return (yield from request_answer(DeletePolicy(name))).found


def policy(name: str) -> Exchange[PolicyFound]:
    """Return a policy by its name. Raises `SettingNotFound`."""
    return (yield from request_answer(GetPolicy(name)))


def policies() -> Exchange[tuple[PolicyFound, ...]]:
    """Return all policies, by name."""
    policies_found: list[PolicyFound] = []
    last = ""
    while True:
        page = yield from request_answer(ListPolicies(last, POLICIES_PAGE))
        policies_found += page.policies
        last = page.last
        if len(page.policies) < POLICIES_PAGE:
            return tuple(policies_found)
