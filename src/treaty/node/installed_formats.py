"""The formats that are installed, as a schema service asks them. Each part is loaded by the first question that needs it."""

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from treaty.core.schema_engine import Answer, Question

if TYPE_CHECKING:
    from treaty.formats.engine import FormatEngine
    from treaty.node.pool import AnswerPool

THREAD, PROCESSES = "ThreadPool", "ProcessPool"
"""The pools of `treaty.node.pool`."""


class InstalledFormats:
    """Answers questions with the formats of this package and of installed plug-ins. A program that asks none loads no format."""

    def __init__(self, pool: str) -> None:
        """Load nothing; large questions go to this pool, which starts with the first of them."""
        self._pool_kind = pool

    @cached_property
    def _engine(self) -> "FormatEngine":
        engine: FormatEngine = import_module("treaty.formats.engine").FormatEngine(_find_formats())
        return engine

    @cached_property
    def _names(self) -> tuple[str, ...]:
        names: tuple[str, ...] = _find_formats().names
        return names

    @cached_property
    def _id_schemes(self) -> Mapping[str, str]:
        packages: Mapping[str, str] = import_module("treaty.formats.id_schemes").find_id_schemes().packages
        return packages

    @cached_property
    def _pool(self) -> "AnswerPool":
        pool: AnswerPool = getattr(import_module("treaty.node.pool"), self._pool_kind)()
        return pool

    def load(self) -> None:
        """Load the engine, the pool and all formats now."""
        self.validators()
        _ = self._engine, self._pool

    def names(self) -> tuple[str, ...]:
        """Names of the formats; each registration asks for them."""
        return self._names

    def answer(self, question: Question) -> Answer:
        """Answer a question, blocking."""
        return self._engine.answer(question)

    async def run(self, question: Question) -> Answer:
        """Answer a large question in the pool, within its time."""
        answer: Answer = await import_module("treaty.node.pool").answer_in_time(self._pool, question)
        return answer

    def validators(self) -> frozenset[str]:
        """Names of all validators; all formats are loaded for it."""
        registry = import_module("treaty.formats.validators.registry")
        names: frozenset[str] = registry.names_of_validators(_find_formats().validators(), registry.find_validators())
        return names

    def id_schemes(self) -> Mapping[str, str]:
        """Id schemes, each with its package."""
        return self._id_schemes

    def close(self) -> None:
        """Close the pool, if there is one."""
        if "_pool" in self.__dict__:
            self._pool.close()


def _find_formats() -> Any:
    return import_module("treaty.formats.registry").find_formats()
