"""What rules say of subjects, contexts, topics, folders and sources."""

import re
from typing import Any


def matches(pattern: str, text: str) -> bool:
    """Whether a text fits a pattern: ``*`` stands for any characters, ``?`` for one."""
    words = {"*": ".*", "?": "."}
    return re.fullmatch("".join(words.get(char, re.escape(char)) for char in pattern), text, re.DOTALL) is not None


def may(access: Any, permission: str, context: str, name: str) -> bool:
    """Whether some rule allows this on a subject; with the context ``*`` only a rule for all contexts does."""
    return any(
        permission in rule.may
        and any(pattern == "*" if context == "*" else matches(pattern, context) for pattern in rule.contexts)
        and any(matches(pattern, name) for pattern in rule.subjects)
        for rule in access.rules
    )


def may_whole(access: Any, permission: str, context: str) -> bool:
    """Whether a rule allows this on every subject of a context."""
    return any(
        permission in rule.may
        and any(pattern == "*" if context == "*" else matches(pattern, context) for pattern in rule.contexts)
        and "*" in rule.subjects
        for rule in access.rules
    )


def may_bind(access: Any, topic: tuple[str, str, str], permission: str = "register") -> bool:
    """Whether a rule lets the keys or values of a topic be bound, or gives another permission on them: it names the topic; or,
    where it names no topics at all, it gives it on the subject that the topic has by its name, in the default context or in
    that of its namespace.
    """
    name, namespace, kind = topic
    for rule in access.rules:
        if permission not in rule.may:
            continue
        if rule.topics is not None:
            if any(matches(pattern, name) for pattern in rule.topics):
                return True
            continue
        fits = any(matches(pattern, f"{name}-{kind}") for pattern in rule.subjects)
        if fits and any(matches(pattern, home) for pattern in rule.contexts for home in (".", "." + namespace)):
            return True
    return False


def may_path(access: Any, permission: str, place: str) -> bool:
    """Whether a rule gives a permission on a folder: it names it after ``path:`` among topics; or, where it names no topics, it gives
    it on the subject of the values of a topic of that name.
    """
    path = "/".join(part for part in place.split("/") if part not in ("", "."))
    for rule in access.rules:
        if permission not in rule.may:
            continue
        if rule.topics is not None:
            if any(matches(pattern, f"path:{path}") for pattern in rule.topics):
                return True
        elif any(matches(one, f"{path}-value") for one in rule.subjects) and any(
            matches(one, ".") for one in rule.contexts
        ):
            return True
    return False


def may_every_source(access: Any, permission: str) -> bool:
    """Whether a rule gives a permission on all sources: it says ``*`` of them, or of the subjects of the default context."""
    return any(
        permission in rule.may
        and (
            "*" in rule.sources
            if rule.sources is not None
            else "*" in rule.subjects and any(matches(one, ".") for one in rule.contexts)
        )
        for rule in access.rules
    )


def may_source(access: Any, permission: str, key: str) -> bool:
    """Whether a rule gives a permission on a source or type: it names its key; or, where it names no sources at all, it covers
    the subject of that name in the default context. With ``*`` on some source.
    """
    for rule in access.rules:
        if permission not in rule.may:
            continue
        patterns = rule.sources
        if patterns is None:
            patterns = rule.subjects if any(matches(one, ".") for one in rule.contexts) else ()
        if patterns and (key == "*" or any(matches(one, key) for one in patterns)):
            return True
    return False
