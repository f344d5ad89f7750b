"""Where the rooms meet: settings in, running program out."""

from treaty.assemble.opening import PASSING_ERRORS, UNUSABLE_ERRORS, connect, connect_async, member, state_path

__all__ = ["PASSING_ERRORS", "UNUSABLE_ERRORS", "connect", "connect_async", "member", "state_path"]
