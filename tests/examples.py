"""How many examples a law gets that needs another number than most.

A number that is written into `settings` holds under any profile: a law with 600 examples would have as many in `make quick`.
"""

from hypothesis import settings

USUAL = 100
"""What the numbers of laws are written against: a profile with so many examples gives them as many as they name."""
LEAST = 3
MOST = 2.0
"""How many times its number a law has at most, in a long run."""


def examples(number: int) -> settings:
    """Settings with this many examples, or the share of them that other laws have too under the profile in force."""
    assert settings.default is not None
    share = min(MOST, settings.default.max_examples / USUAL)
    return settings(max_examples=max(LEAST, round(number * share)))
