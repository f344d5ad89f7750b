"""Assembly: builds running nodes and servers from settings."""

from treaty.assemble.runtime import (
    LOG_CONFIG,
    PASSING_ERRORS,
    UNUSABLE_ERRORS,
    connect,
    connect_async,
    log_environment,
    open_node,
    open_registry,
    state_path,
)

__all__ = [
    "LOG_CONFIG",
    "PASSING_ERRORS",
    "UNUSABLE_ERRORS",
    "connect",
    "connect_async",
    "log_environment",
    "open_node",
    "open_registry",
    "state_path",
]
