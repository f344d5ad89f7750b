"""The requests that make, list and delete contexts, for imports: their members, defaults and answers; decided in `core/handlers/contexts.py`."""

from treaty.core.messages.request import Request
from treaty.core.messages.versions import DeletedVersions
from treaty.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Contexts:
    """Names of contexts, the default one first."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextMade:
    """A context, and the highest id that is assigned or reserved in it."""

    name: str
    highest_id: int


@dataclass(frozen=True, slots=True)
class MakeContext(Request[ContextMade]):
    """Create an empty context in which no id up to `highest_id` is assigned; for imports."""

    context: str
    highest_id: int = 0


@dataclass(frozen=True, slots=True)
class DeleteContext(Request[DeletedVersions]):
    """Delete an empty context."""

    context: str


@dataclass(frozen=True, slots=True)
class ListContexts(Request[Contexts]):
    """All contexts, the default one first."""

    prefix: str = ""
