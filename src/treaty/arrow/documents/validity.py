"""Whether JSON documents are valid, by the schemas that they were written with."""

from collections.abc import Callable
from functools import cache

from treaty.core.finding import Diagnostic
from treaty.formats.registry import find_formats
from treaty.plan.avro.envelope import make_header
from treaty.plan.format_plans import JsonFormatPlan
from treaty.plan.registry_queries import parse_text

Check = Callable[[bytes | None], str | None]
"""From a frame to what its schema has against it: the first reason with path and keyword; None where there is none."""


def make_checker(format_plan: JsonFormatPlan) -> Check:
    """The check of a plan's documents; whatever is no frame of theirs, or no text, has nothing against it."""
    texts = {make_header(number): text for number, text in format_plan.checks}
    check = find_formats()["JSON"].check
    assert check is not None, "JSON documents can be checked"
    model = cache(lambda head: parse_text("JSON", texts[head]))

    def found(value: bytes | None) -> str | None:
        if value is None or value[:5] not in texts:
            return None
        try:
            text = value[5:].decode()
        except UnicodeDecodeError:
            return None
        return _print_first(check(model(value[:5]), text))

    return found


def _print_first(faults: tuple[Diagnostic, ...]) -> str | None:
    if not faults:
        return None
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{faults[0]}{more}"
