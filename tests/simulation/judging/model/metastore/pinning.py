"""What sources that are bound to versions do when those are to go."""

from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.metastore.state import pinning, sources
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.resources import may_source
from treaty.core import limits
from treaty.core.refusals import SchemaPinned


def refuse_if_pinned(past: Past, going: list[VersionNow]) -> None:
    """Nothing that a source is bound to goes for good, by no kind of force."""
    if any(pinning(past, version) for version in going):
        raise No(SchemaPinned, "SOURCE_PINNED")


def warned_of(past: Past, asking: Asking, going: list[VersionNow]) -> tuple[str, ...]:
    """Names of the sources that a soft delete is warned of, as far as the caller may read them."""
    keys = {key for version in going for key in pinning(past, version)}
    shown = (key for key in keys if asking.access is None or may_source(asking.access, "read", key))
    return tuple(sorted(sources(past)[key].name for key in shown)[: limits.WARNED_SOURCES])
