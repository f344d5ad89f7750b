"""For tests of programs that use Treaty: a registry in the test's own process, and fixtures of pytest for it.

`from treaty.testing import TreatyRegistry` loads the server; pytest's plugin, which stands beside it, does not.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treaty.testing.registry import TreatyRegistry

__all__ = ["TreatyRegistry"]


if not TYPE_CHECKING:  # type checkers see the import above, and no other name

    def __getattr__(name: str) -> object:
        if name in __all__:
            from treaty.testing import registry  # noqa: PLC0415 (the plugin must not load the server in every run of pytest)

            return getattr(registry, name)
        raise AttributeError(f"module 'treaty.testing' has no attribute {name!r}")
