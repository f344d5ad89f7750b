"""Where the rooms meet: settings in, running program out."""

from treaty.assemble.runtime import (
    LOG_CONFIG,
    PASSING_ERRORS,
    UNUSABLE_ERRORS,
    connect,
    connect_async,
    log_environment,
    open_node,
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
    "state_path",
]
