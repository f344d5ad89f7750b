"""What a key of Iglu's API allows, as a rule: by its action (READ, BUMP, CREATE, CREATE_VENDOR) and its vendor, and what a super key allows."""

from treaty.core.access.rights import AccessRule, Permission, patterns_of_vendor, with_included
from treaty.core.messages.api_keys import EVERY_VENDOR, PRINCIPAL, SHORT_ID, ApiKeyFound, KeyAction

_PERMISSIONS: dict[KeyAction, Permission] = {
    "READ": "read",
    "BUMP": "bump",
    "CREATE": "create",
    "CREATE_VENDOR": "create",
}


def rule_of_key(key: ApiKeyFound) -> AccessRule:
    """Return what a key of a vendor allows. BUMP and CREATE are for the vendor alone, not for those below it; a key of every vendor
    is for private subjects too.
    """
    exact, below = patterns_of_vendor(key.vendor)
    subjects = (exact,) if key.action in {"BUMP", "CREATE"} else (exact, below)
    may, private = with_included((_PERMISSIONS[key.action],)), key.vendor == EVERY_VENDOR
    return AccessRule((key.principal,), may, subjects, private=private)


def super_rule(digest: str) -> AccessRule:
    """Return what a super key allows: everything."""
    principal = f"{PRINCIPAL}{digest[:SHORT_ID]}"
    return AccessRule((principal,), with_included(("admin",)), ("*",), ("*",), private=True)
