"""Operations on API keys."""

from typing import Any

from treaty.core.access import permissions
from treaty.core.declarations.operation import Operation, is_always
from treaty.core.handlers import api_keys
from treaty.core.messages import api_keys as k

DECLARED: tuple[Operation[Any, Any], ...] = (
    Operation(
        "add-api-keys", k.AddApiKeys, k.ApiKeys, api_keys.add_api_keys, permissions.of_vendor("admin"),
        ("NAME_LENGTH", "API_KEYS", "API_KEYS_AT_ONCE"), writes=True, answer_name="api-keys", is_idempotent=is_always,
    ),
    Operation(
        "remove-api-key", k.RemoveApiKey, k.ApiKeyRemoved, api_keys.remove_api_key, permissions.anywhere("admin"),
        writes=True, answer_name="api-key-removed",
    ),
    Operation(
        "list-api-keys", k.ListApiKeys, k.ApiKeys, api_keys.list_api_keys, permissions.anywhere("admin"), ("API_KEYS_PAGE",),
    ),
)  # fmt: skip
