"""What a schema text means: the text together with the texts that its references lead to."""

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Binding:
    """A reference that has been followed: the name used in the text, where it led, and what stands there."""

    name: str
    subject: str
    version: int
    meaning: "Meaning"


@dataclass(frozen=True, slots=True)
class Meaning:
    """A text of some format with its resolved references; two are equal when their digests are.

    The digest is the key of every memo about a schema: two schemas with the same guid can
    mean different things, because a guid covers only the subject and number of a reference.
    """

    format: str = field(compare=False)
    text: str = field(compare=False)
    bindings: tuple[Binding, ...] = field(default=(), compare=False)
    digest: bytes = field(init=False, compare=True, repr=False)

    def __post_init__(self) -> None:
        """Compute the digest once: bindings carry theirs, so the cost is linear in the text alone."""
        state = hashlib.sha256()
        for part in (self.format.encode(), self.text.encode("utf-8", "surrogatepass")):
            state.update(len(part).to_bytes(8, "big") + part)
        for bound in self.bindings:
            name = bound.name.encode("utf-8", "surrogatepass")
            state.update(len(name).to_bytes(8, "big") + name + bound.meaning.digest)
        object.__setattr__(self, "digest", state.digest())

    def __hash__(self) -> int:
        return int.from_bytes(self.digest[:8], "big")
