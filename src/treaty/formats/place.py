"""Places inside a JSON text."""

Path = tuple["Path", str | int] | None
"""The way to a place: the way to its parent, and the step from there. Cheap to extend; None is the root."""


def pointer(path: Path) -> str:
    """A path as a JSON pointer (RFC 6901); the root is empty."""
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(str(step).replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{step}" for step in reversed(steps))
