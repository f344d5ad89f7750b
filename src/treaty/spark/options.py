"""Options as texts by name, which functions and the data source take: those of a registry's client, and all others."""

from collections.abc import Iterable, Mapping
from typing import Any

from treaty.plan.errors import PlanError

SETTING = "confluent.schema.registry."
"""How the name of an option begins that is a setting of the registry's client."""
NUMBERS = frozenset(
    ("timeout", "max.retries", "retries.wait.ms", "retries.max.wait.ms", "cache.capacity", "cache.latest.ttl.sec")
)
"""Settings of the registry's client that are numbers."""
PEM = {
    "ssl.truststore.": f"{SETTING}ssl.ca.location (certificates of authorities)",
    "ssl.keystore.": f"{SETTING}ssl.certificate.location and {SETTING}ssl.key.location",
    "ssl.key.password": "",
}
"""Settings for Java's key stores, and the settings that name the same as PEM files."""


def split_options(options: Mapping[str, str] | None) -> tuple[dict[str, str], dict[str, Any]]:
    """Options by their names in lower case, and the settings of the registry's client without what their names begin with.

    Raises `PlanError` for options that are no mapping, and for Java's key stores, which Python does not read.
    """
    if options is not None and not isinstance(options, Mapping):
        raise PlanError(
            f"options are a mapping of texts, not {type(options).__name__}; the subject and the registry are given by name: "
            "subject=…, schemaRegistryAddress=…"
        )
    lower = {name.lower(): value for name, value in (options or {}).items()}
    settings = {
        name.removeprefix(SETTING): _read_setting(name.removeprefix(SETTING), lower.pop(name))
        for name in list(lower)
        if name.startswith(SETTING)
    }
    return lower, settings


def _read_setting(name: str, value: str) -> str | float:
    store = next((pem for store, pem in PEM.items() if pem and name.startswith(store)), "")
    if store:
        raise PlanError(f"{SETTING}{name} is for one of Java's key stores; give PEM files instead: {store}")
    try:
        return float(value) if name in NUMBERS else value
    except ValueError:
        raise PlanError(f"{SETTING}{name} is a number, not {value!r}") from None


def refuse_unknown(names: Iterable[str], allowed: Mapping[str, str]) -> None:
    """Raise `PlanError` for an option that is not `allowed`: names in lower case, each with what it may be."""
    strange = sorted(set(names) - allowed.keys())
    if strange:
        listed = ", ".join(f"{name} ({values})" if values else name for name, values in allowed.items())
        raise PlanError(f"option {strange[0]!r} is unknown; options are {listed} and {SETTING}…")
