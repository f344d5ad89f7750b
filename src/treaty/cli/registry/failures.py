"""The errors of a registry as the errors of a command: what it refuses, and what gives no result."""

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import IO, Any

from treaty.assemble import PASSING_ERRORS, UNUSABLE_ERRORS
from treaty.cli.terminal import registry_url, screen
from treaty.cli.terminal.errors import ReportedError, announce_stop
from treaty.cli.terminal.source import UnusableError
from treaty.core.refusals import PreviousLevelDiffers, Refusal, RegistryError

UNREACHABLE = "REGISTRY_UNREACHABLE"
"""The rule of the error when the registry gives no result."""
MANY_NAMES = 10
"""From this number of allowed names on, an error lists only similar ones."""
REFUSED = 1
"""Exit code of a refusal, also when something is not found."""


class RefusedError(ReportedError):
    """A refusal of the registry: its sentence, and what would be allowed."""

    exit_code = REFUSED

    def __init__(self, no: Refusal) -> None:
        """Print the sentence and the remedy."""
        from treaty.wire.confluent.errors import only_code  # noqa: PLC0415 (most commands are not refused)

        reason = no.reason
        sentence = str(no).replace("deleted.Set ", "deleted. Set ")  # the established text lacks the space
        if isinstance(no, PreviousLevelDiffers):
            sentence = f"{sentence}: it is {reason.old}, not {reason.new}"
        facts = {"path": reason.path, "old": reason.old, "new": reason.new, "allowed": reason.allowed}
        super().__init__(sentence, reason.rule, code=only_code(no), subject=reason.subject, **facts)

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence, and what would be allowed."""
        super().show(file)
        allowed, new = self.facts.get("allowed", ""), self.facts.get("new", "")
        names = allowed.split(", ")
        if len(names) > MANY_NAMES:
            near = get_close_matches(new, names)
            hint = f"did you mean {' or '.join(near)}?" if near else f"one of {len(names)} names; --json lists them"
            screen.say(hint, err=True)
        elif allowed:
            screen.say(f"allowed: {allowed}", err=True)


@contextmanager
def report_failures() -> Iterator[None]:
    """Report errors of the block: a refusal ends the program with exit code 1, a failure with 2."""
    try:
        with announce_stop():
            yield
    except Refusal as no:
        raise RefusedError(no) from no
    except (*UNUSABLE_ERRORS, *PASSING_ERRORS, ValueError) as error:
        raise UnusableError(
            f"{str(error).removesuffix('?')}{'? Or ' if str(error).endswith('?') else '; '}give the registry with --registry http://host:port",
            UNREACHABLE,
        ) from error
    except RegistryError as error:
        raise UnusableError(registry_url.describe_failure(error), UNREACHABLE) from error
