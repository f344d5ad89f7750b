"""All planted bugs, by name."""

from tests.planted.bugs.care import CARED
from tests.planted.bugs.events import LOADED
from tests.planted.bugs.further import FURTHER
from tests.planted.bugs.generations import GENERATIONS
from tests.planted.bugs.groups import GROUPS
from tests.planted.bugs.iglu import RESOLVED
from tests.planted.bugs.judged import JUDGED
from tests.planted.bugs.labels import NAMED
from tests.planted.bugs.logs import LOGS
from tests.planted.bugs.nodes import NODES
from tests.planted.bugs.policies import POLICIES
from tests.planted.bugs.private import PRIVATE
from tests.planted.bugs.roots import ROOTS
from tests.planted.bugs.rules import RULES
from tests.planted.bugs.states import STATES
from tests.planted.bugs.transfers import TRANSFERS

BUGS = (
    *RULES,
    *NODES,
    *STATES,
    *LOGS,
    *FURTHER,
    *JUDGED,
    *GENERATIONS,
    *GROUPS,
    *POLICIES,
    *NAMED,
    *PRIVATE,
    *ROOTS,
    *CARED,
    *TRANSFERS,
    *RESOLVED,
    *LOADED,
)
