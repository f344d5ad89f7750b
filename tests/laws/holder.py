"""Somebody with rights, for the laws about rights."""

from collections.abc import Iterable
from typing import Any

from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.messages.request import Request
from treaty.core.operations import refuse_unless_allowed
from treaty.core.refusals import Forbidden

ALL = Access((AccessRule(("user:a",), with_included(("admin",)), ("*",), ("*",), sources=("*",), topics=("*",)),))
"""The access of somebody who may do everything."""


def access(*may: Permission, subjects: Iterable[str] = ("*",), contexts: Iterable[str] = (".",)) -> Access:
    return Access((AccessRule(("user:a",), with_included(may), tuple(subjects), tuple(contexts)),))


def allowed(access: Access, request: Request[Any]) -> bool:
    try:
        refuse_unless_allowed(access, "user:a", request)
    except Forbidden:
        return False
    return True
