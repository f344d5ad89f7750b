"""The table of validators by name: lints, those that are shipped, and plug-ins, which are imported at their first use."""

from collections.abc import Mapping
from dataclasses import dataclass

from treaty.core.policy import LINT, name_of_validator, parse_validator
from treaty.core.schema import Pairs
from treaty.formats.registry import PluginTable, find_places, once_for_a_path
from treaty.formats.validators.elements import ELEMENT_VALIDATORS
from treaty.formats.validators.requirements import PLAIN_VALIDATORS
from treaty.formats.validators.validator import Validator

SHIPPED: Mapping[str, Validator] = {one.name: one for one in (*ELEMENT_VALIDATORS, *PLAIN_VALIDATORS)}
"""The validators of this package by name; those that are lints or compare by a policy are made from these."""

GROUP = "treaty.validators"
"""The entry point group in which other packages offer a `Validator`."""


@dataclass(frozen=True, slots=True)
class ValidatorRegistry:
    """Validators by name, without the lints: those of this package and the `plugins` of others."""

    plugins: PluginTable[Validator]

    @property
    def names(self) -> frozenset[str]:
        """All names."""
        return frozenset((*SHIPPED, *self.plugins.places))

    def find(self, name: str) -> Validator | None:
        """The validator called `name`, or None; raises `ImportError` if a plug-in is there and broken."""
        return SHIPPED.get(name) or self.plugins.find(name)

    def packages_of(self, named: tuple[str, ...]) -> Pairs:
        """The packages that offer plug-ins among these validators, by name of the validator."""
        names = dict.fromkeys(map(name_of_validator, named))
        places = self.plugins.places
        return tuple((name, places[name].package) for name in names if name in places)

    def print_signature(self, name: str) -> str:
        """How a validator is written, with parameters where it takes any."""
        validator = SHIPPED.get(name) or self.plugins.get_loaded(name)
        return validator.written or name if validator is not None else name

    def is_plugin(self, name: str) -> bool:
        """Return whether a validator is not of this package."""
        return name not in SHIPPED and name in self.plugins.places

    def check(self, text: str) -> str:
        """What is wrong with a validator as a policy names it, or an empty text; lints take no parameters."""
        try:
            call = parse_validator(text)
            validator = self.find(call.name)
            if validator is not None:
                validator.check(call.parameters)
            elif call.parameters:
                return "it takes no parameters"
        except (ValueError, ImportError) as error:
            return str(error)
        return ""


def names_of_validators(lints: frozenset[str], plugins: ValidatorRegistry) -> frozenset[str]:
    """All names under which a policy may name a validator, but those that compare by a policy: a lint has two."""
    return frozenset((*lints, *(f"{LINT}{one}" for one in lints), *plugins.names))


@once_for_a_path
def find_validators() -> ValidatorRegistry:
    """The validators of this package and of all installed plug-ins; a shipped one can't be replaced."""
    return ValidatorRegistry(PluginTable(lambda plugin: isinstance(plugin, Validator), "Validator", find_places(GROUP)))
