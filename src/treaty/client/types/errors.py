"""What can be wrong between a Python class and a schema: a class that has none, and a value that does not fit."""


class NoSchemaError(TypeError):
    """A class has no schema. `path` says where in it, the message what was met and what would be allowed."""

    def __init__(self, path: str, message: str) -> None:
        """Keep the place."""
        super().__init__(f"{path}: {message}")
        self.path = path


class MisfitError(ValueError):
    """A value is not of its class, or a record's value can't become one; `path` says where in it."""

    def __init__(self, message: str, path: str = "") -> None:
        """Keep the place, which grows while the error rises."""
        super().__init__(f"{path}: {message}" if path else message)
        self.message = message
        self.path = path

    def under(self, name: str) -> "MisfitError":
        """The same error, one level up."""
        joint = "." if self.path and not self.path.startswith("[") else ""
        return MisfitError(self.message, f"{name}{joint}{self.path}")
