"""The states of a part that a runner has, what each means, and the way out of it, as the runner says them. Where no runner answers, the
terminal says it (`cli.metastore.queries.watch`).
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from treaty.core.column_types.tokens import print_name


@dataclass(frozen=True, slots=True)
class PartState:
    """A state: its meaning, what leads out of it, and the command that does; ``{name}`` stands for the name of the source."""

    meaning: str
    way_out: str
    command: str

    def print_command(self, name: str) -> str:
        """Return the command for a source. A shell and SQL read it as it is meant, whatever the name is."""
        printed = print_name(name)
        if printed == name:
            return self.command.replace("{name}", name)
        program, _, statement = self.command.partition('"')
        text = statement.rstrip('"').replace("{name}", printed)
        return f"{program}{shlex.quote(text)}" if text else self.command


STARTING, RUNNING, WAITING, RETRYING = "STARTING", "RUNNING", "WAITING", "RETRYING"
FAILED, PAUSED, DRAINING, ENDED = "FAILED", "PAUSED", "DRAINING", "ENDED"
STATES: Mapping[str, PartState] = {
    STARTING: PartState(
        "its session, views and checkpoint are opened",
        "it runs within seconds; a start that is slow waits for others",
        "treaty query watch",
    ),
    RUNNING: PartState("batches are read and written", "a pause, or a drop", 'treaty sql -e "PAUSE {name}"'),
    WAITING: PartState(
        "what it reads is not there yet, or the registry does not answer; it is looked at again every few seconds",
        "the first record, file or table of what it reads, which the reason names",
        'treaty sql -e "DESCRIBE {name} EXTENDED"',
    ),
    RETRYING: PartState(
        "a batch failed; it begins again after a pause that doubles up to a minute",
        "the reason names what failed; a start at once is a pause and a resume",
        'treaty sql -e "PAUSE {name}; RESUME {name}"',
    ),
    FAILED: PartState(
        "the same would fail again: nothing is tried until its definition, or what it reads, changes",
        "another definition by CREATE OR REPLACE or ALTER, or one more attempt by a pause and a resume",
        'treaty sql -e "PAUSE {name}; RESUME {name}"',
    ),
    PAUSED: PartState("its desired state is PAUSED", "a resume", 'treaty sql -e "RESUME {name}"'),
    DRAINING: PartState(
        "its batch is finished, and no other begins: it was paused, dropped, replaced or given up, or the runner ends",
        "it ends by itself",
        "treaty query watch",
    ),
    ENDED: PartState(
        "this runner has it no more: it was dropped, or another runner has it", "none is needed", "treaty query watch"
    ),
}
"""By name. Every state names one command that leads out of it, or shows how it continues."""
