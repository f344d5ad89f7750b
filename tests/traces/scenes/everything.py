"""All scenarios by name: the coroutines of the modules of this folder, and those that they list in `MORE`."""

import inspect
from collections.abc import Iterator, Mapping

from tests.traces.scene import Play
from tests.traces.scenes import away, barriers, files, following, forwarding, questions, segments, starting, writing

MODULES = (starting, writing, away, following, barriers, questions, forwarding, files, segments)


def _list_scenarios() -> Iterator[tuple[str, Play]]:
    for module in MODULES:
        room = module.__name__.rpartition(".")[2]
        for name, value in vars(module).items():
            if inspect.iscoroutinefunction(value) and value.__module__ == module.__name__ and name[0] != "_":
                yield f"{room}-{name.replace('_', '-')}", value
        more: Mapping[str, Play] = getattr(module, "MORE", {})
        yield from ((f"{room}-{name}", scenario) for name, scenario in more.items())


SCENARIOS: Mapping[str, Play] = dict(_list_scenarios())
