"""What API keys allow, as rules."""

from treaty.core.access.rights import AccessRule, Permission, patterns_of_vendor, with_included
from treaty.core.messages.api_keys import PRINCIPAL, SHORT_ID, ApiKeyFound, KeyAction

_PERMISSIONS: dict[KeyAction, Permission] = {
    "READ": "read",
    "BUMP": "bump",
    "CREATE": "create",
    "CREATE_VENDOR": "create",
}


def rule_of_key(key: ApiKeyFound) -> AccessRule:
    """Return what a key of a vendor allows. BUMP and CREATE are for the vendor alone, not for those below it."""
    exact, below = patterns_of_vendor(key.vendor)
    subjects = (exact,) if key.action in {"BUMP", "CREATE"} else (exact, below)
    return AccessRule((key.principal,), with_included((_PERMISSIONS[key.action],)), subjects)


def super_rule(digest: str) -> AccessRule:
    """Return what a super key allows: everything."""
    principal = f"{PRINCIPAL}{digest[:SHORT_ID]}"
    return AccessRule((principal,), with_included(("admin",)), ("*",), ("*",), private=True)
