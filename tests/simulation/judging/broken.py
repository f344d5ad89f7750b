"""A broken law."""


class Broken(AssertionError):
    """A law does not hold. `law` is its number in the design (1 to 6), or `log`."""

    def __init__(self, law: str, sentence: str) -> None:
        super().__init__(f"law {law}: {sentence}")
        self.law = law
