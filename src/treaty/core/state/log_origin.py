"""What the rows of `log_origin` mean for a node: an unfinished restore serves no requests, a migrated log accepts no
writes.
"""

from treaty.core.state.state_tables import LOG_ORIGIN, LogOriginKey
from treaty.core.state.view import View

_RESTORING, _SUCCESSOR = LogOriginKey("restoring"), LogOriginKey("successor")


def explain_unfinished_restore(view: View) -> str:
    """Return why nothing may be read from this log yet; empty where it is whole."""
    mark = view.get(LOG_ORIGIN, _RESTORING)
    if mark is None:
        return ""
    return (
        f"this log is being restored from a dump of {mark.url} at sequence {mark.sequence}, or a restore was cut off: "
        "run `treaty log restore` with that dump again (or `migrate`, or `upgrade`, if that made it)"
    )


def explain_sealed_log(view: View) -> str:
    """Return why nothing may be written to this log any more; empty where it may."""
    mark = view.get(LOG_ORIGIN, _SUCCESSOR)
    if mark is None:
        return ""
    return f"this log was moved to {mark.url} at sequence {mark.sequence}: point this node there"
