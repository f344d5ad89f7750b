"""Where the rooms meet: settings in, running program out."""

from treaty.assemble.opening import (
    LOG_CONFIG,
    PASSING_ERRORS,
    UNUSABLE_ERRORS,
    connect,
    connect_async,
    log_environment,
    member,
    state_path,
)

__all__ = [
    "LOG_CONFIG",
    "PASSING_ERRORS",
    "UNUSABLE_ERRORS",
    "connect",
    "connect_async",
    "log_environment",
    "member",
    "state_path",
]
