"""Which permission a new version needs: `bump` where its subject exists, else `create`. Requests declare either of them, as
`PUBLISHED`, because the permissions that they declare do not depend on the state.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from treaty.core.access.permissions import PUBLISHED, Required, RequiredPermission
from treaty.core.access.rights import Permission
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.view import View


def choose_bump_or_create(view: View, required: Iterable[RequiredPermission[Any]]) -> Required:
    """Return permissions with the one that each `PUBLISHED` subject needs; others are returned as they are.

    A subject exists as long as it has a row, also when all of its versions are soft-deleted.
    """
    return tuple(_choose_for_subject(view, each) if each.kind is PUBLISHED else each for each in required)


def _choose_for_subject(view: View, required: RequiredPermission[Any]) -> RequiredPermission[Any]:
    needed: Permission = "create" if view.get(SUBJECT, required.name) is None else "bump"
    return replace(required, permissions=(needed,))
