"""The table of validators by name: lints, those that are shipped, and plug-ins, which are imported at their first use."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points

from treaty.core.policy import LINT, name_of_validator, parse_validator
from treaty.core.schema import Pairs
from treaty.formats.validators.elements import ELEMENT_VALIDATORS
from treaty.formats.validators.requirements import PLAIN_VALIDATORS
from treaty.formats.validators.validator import Validator

SHIPPED: Mapping[str, Validator] = {one.name: one for one in (*ELEMENT_VALIDATORS, *PLAIN_VALIDATORS)}
"""The validators of this package by name; those that are lints or compare by a policy are made from these."""

GROUP = "treaty.validators"
"""The entry point group in which other packages offer a `Validator`."""


@dataclass(frozen=True, slots=True)
class ValidatorPlace:
    """Where a plug-in lies, and the package that offers it."""

    value: str
    package: str


@dataclass(frozen=True, slots=True)
class ValidatorRegistry:
    """Validators by name, without the lints. What has been loaded is kept."""

    places: Mapping[str, ValidatorPlace] = field(default_factory=dict)
    _loaded: dict[str, Validator] = field(default_factory=dict, repr=False, compare=False)

    @property
    def names(self) -> frozenset[str]:
        """All names."""
        return frozenset((*SHIPPED, *self.places))

    def find(self, name: str) -> Validator | None:
        """The validator called `name`, or None; raises `ImportError` if a plug-in is there and broken."""
        shipped = SHIPPED.get(name) or self._loaded.get(name)
        place = self.places.get(name)
        if shipped is not None or place is None:
            return shipped
        module, _, attribute = place.value.partition(":")
        try:
            found = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            message = f"the plug-in of the package {place.package} can't be imported: {error}"
            raise ImportError(message) from error
        if not isinstance(found, Validator):
            message = f"{place.value} of the package {place.package} is no Validator"
            raise ImportError(message)  # noqa: TRY004 - a plug-in that can't be used, as one that can't be imported
        self._loaded[name] = found
        return found

    def packages_of(self, named: tuple[str, ...]) -> Pairs:
        """The packages that offer plug-ins among these validators, by name of the validator."""
        names = dict.fromkeys(map(name_of_validator, named))
        return tuple((name, self.places[name].package) for name in names if name in self.places)

    def written(self, name: str) -> str:
        """How a validator is written, with parameters where it takes any."""
        shipped = SHIPPED.get(name) or self._loaded.get(name)
        return shipped.written or name if shipped is not None else name

    def is_plugin(self, name: str) -> bool:
        """Return whether a validator is not of this package."""
        return name not in SHIPPED and name in self.places

    def check(self, text: str) -> str:
        """What is wrong with a validator as a policy names it, or an empty text; lints take no parameters."""
        try:
            call = parse_validator(text)
            found = self.find(call.name)
            if found is not None:
                found.check(call.parameters)
            elif call.parameters:
                return "it takes no parameters"
        except (ValueError, ImportError) as error:
            return str(error)
        return ""


def names_of_validators(lints: frozenset[str], plugins: ValidatorRegistry) -> frozenset[str]:
    """All names under which a policy may name a validator, but those that compare by a policy: a lint has two."""
    return frozenset((*lints, *(f"{LINT}{one}" for one in lints), *plugins.names))


def find_validators() -> ValidatorRegistry:
    """The validators of this package and of all installed plug-ins; a shipped one can't be replaced."""
    return _find_validators(tuple(sys.path))


@lru_cache(maxsize=8)
def _find_validators(path: tuple[str, ...]) -> ValidatorRegistry:
    """The validators that packages on a path offer; looked for once for a path, as formats are."""
    del path
    points = entry_points(group=GROUP)
    return ValidatorRegistry(
        {
            point.name: ValidatorPlace(point.value, point.dist.name if point.dist else point.module.partition(".")[0])
            for point in points
        }
    )
