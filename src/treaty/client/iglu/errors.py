"""What registries answered: failures, the history of each registry, and the errors of a resolution with their JSON forms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Self

from treaty.core.limits import IGLU_ERRORS

Kind = Literal["NotFound", "RepoFailure", "ClientFailure"]


@dataclass(frozen=True, slots=True, order=True)
class RegistryFailure:
    """A registry did not give a schema.

    ``NotFound``: it says that it has none. ``RepoFailure``: it, or the network, fails. ``ClientFailure``: the
    request is refused, or the configuration is wrong. `status` is that of HTTP, 0 for none; it is no part of equality.
    """

    kind: Kind
    message: str = ""
    status: int = field(default=0, compare=False)

    @property
    def is_missing(self) -> bool:
        """Whether the registry says that the schema is not there."""
        return self.kind == "NotFound"

    def to_json(self) -> dict[str, str]:
        """The failure as a JSON object, in the form of the Scala client."""
        return {"error": self.kind} if self.is_missing else {"error": self.kind, "message": self.message}

    def __str__(self) -> str:
        return self.kind if self.is_missing else f"{self.kind}: {self.message}"


NOT_FOUND = RegistryFailure("NotFound")


def repo_failure(message: str) -> RegistryFailure:
    """The registry, or the network to it, fails."""
    return RegistryFailure("RepoFailure", message)


def client_failure(message: str) -> RegistryFailure:
    """The request was refused, or can't be made."""
    return RegistryFailure("ClientFailure", message)


@dataclass(frozen=True, slots=True)
class LookupHistory:
    """What a registry said about one schema so far: its distinct failures, the requests, and the time of the last one, in
    milliseconds since 1970. `is_final`: it is not asked again before the entry expires, whatever the failures are. `last`
    is its last answer, if that still holds.
    """

    errors: frozenset[RegistryFailure] = frozenset()
    attempts: int = 0
    last_attempt: int = 0
    is_final: bool = field(default=False, compare=False)
    last: RegistryFailure | None = field(default=None, compare=False)

    def add(self, failure: RegistryFailure, now: int, *, is_final: bool = False) -> "LookupHistory":
        """The history after one more failure."""
        errors = _limit_errors(self.errors | {failure})
        return LookupHistory(errors, self.attempts + 1, now, self.is_final or is_final, failure)

    def merge(self, other: "LookupHistory") -> "LookupHistory":
        """Both histories as one: all failures, the most attempts, the latest time."""
        return LookupHistory(
            _limit_errors(self.errors | other.errors),
            max(self.attempts, other.attempts),
            max(self.last_attempt, other.last_attempt),
            self.is_final or other.is_final,
            (other.last or self.last) if other.last_attempt >= self.last_attempt else self.last,
        )

    def forget_missing(self) -> "LookupHistory":
        """The history without ``NotFound``."""
        last = None if self.last == NOT_FOUND else self.last
        return LookupHistory(self.errors - {NOT_FOUND}, self.attempts, self.last_attempt, self.is_final, last)

    @property
    def is_missing(self) -> bool:
        """Whether the registry says, as far as is known, that the schema is not there."""
        return self.last == NOT_FOUND if self.last is not None else self.errors == {NOT_FOUND}


def _limit_errors(errors: frozenset[RegistryFailure]) -> frozenset[RegistryFailure]:
    return errors if len(errors) <= IGLU_ERRORS else frozenset(sorted(errors)[:IGLU_ERRORS])


Failures = Mapping[str, LookupHistory]
"""By name of a registry: its history."""
NO_FAILURES: Failures = {}


def merge_failures(old: Failures, new: Failures) -> Failures:
    """Both as one; a registry that is in one only keeps its history."""
    return {
        name: old[name].merge(new[name]) if name in old and name in new else (new.get(name) or old[name])
        for name in sorted({*old, *new})
    }


class ResolutionError(Exception):
    """No registry gave the schema; `failures` says what each one answered, how often it was asked, and when last.

    `IgluNotFoundError`: it is nowhere. `IgluUnavailableError`: some registry can't say now. `next_attempts` has for each registry
    the time from which it is asked again, in milliseconds since 1970; None: not before it is evicted from the cache.
    """

    def __init__(self, subject: str, failures: Failures, next_attempts: Mapping[str, int | None] | None = None) -> None:
        self.subject = subject
        self.failures: Failures = dict(sorted(failures.items()))
        self.next_attempts: Mapping[str, int | None] = dict(next_attempts or {})
        super().__init__(self._describe())

    def _describe(self) -> str:
        lines = [f"{self.subject} cannot be resolved"]
        for name, history in self.failures.items():
            errors = ", ".join(map(str, sorted(history.errors))) or "nothing yet"
            times = "1 request" if history.attempts == 1 else f"{history.attempts} requests"
            line = f"  {name}: {errors} ({times}, the last at {format_time(history.last_attempt)}"
            if name in self.next_attempts:
                after = self.next_attempts[name]
                line += "; not asked again while it is cached" if after is None else f"; next from {format_time(after)}"
            lines.append(f"{line})")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The error as a JSON object, in the form of the Scala client."""
        history = [
            {
                "repository": name,
                "errors": [one.to_json() for one in sorted(history.errors)],
                "attempts": history.attempts,
                "lastAttempt": format_time(history.last_attempt),
            }
            for name, history in self.failures.items()
        ]
        return {"error": "ResolutionError", "lookupHistory": history}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResolutionError) and (type(self), self.failures) == (type(other), other.failures)

    __hash__ = Exception.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.subject, self.failures, self.next_attempts)


class IgluNotFoundError(ResolutionError):
    """Every registry says that the schema is not there."""


class IgluUnavailableError(ResolutionError):
    """At least one registry could not say whether it has the schema; a later look-up may find it."""


def read_resolution_error(value: Any, subject: str = "the schema") -> ResolutionError:
    """Read the JSON form of `ResolutionError.to_json`. Raises `ValueError`."""
    try:
        if value["error"] != "ResolutionError":
            raise ValueError(f"{value['error']!r} is no error of a resolution; allowed is ResolutionError")
        failures = {one["repository"]: _read_history(one) for one in value["lookupHistory"]}
    except (KeyError, TypeError) as error:
        raise ValueError(f"no JSON form of a ResolutionError: {error!r}") from None
    return make_error(subject, failures)


def _read_history(members: Any) -> LookupHistory:
    errors = frozenset(RegistryFailure(error["error"], error.get("message", "")) for error in members["errors"])
    return LookupHistory(errors, members["attempts"], parse_time(members["lastAttempt"]))


def make_error(
    subject: str,
    failures: Failures,
    next_attempts: Mapping[str, int | None] | None = None,
    *,
    is_missing: bool | None = None,
) -> ResolutionError:
    """The error of these failures: of `IgluNotFoundError` if all are ``NotFound``, or if the caller says so."""
    if is_missing is None:
        is_missing = all(history.is_missing for history in failures.values())
    return (IgluNotFoundError if is_missing else IgluUnavailableError)(subject, failures, next_attempts)


def format_time(milliseconds: int) -> str:
    """A time as in ISO 8601, in UTC; the milliseconds only where there are some."""
    seconds, rest = divmod(milliseconds, 1000)
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{rest:03d}Z" if rest else f"{text}Z"


def parse_time(text: str) -> int:
    """Read a time in ISO 8601, as milliseconds since 1970. Raises `ValueError`."""
    time = datetime.fromisoformat(text)
    return round(time.timestamp() * 1000)


class ResolverConfigError(ValueError):
    """A configuration of a resolver is wrong; the message names the member, and what is allowed."""

    def __init__(self, path: str, message: str, allowed: str) -> None:
        super().__init__(f"{path or 'the configuration'}: {message}; allowed is {allowed}")
        self.path = path
        self.allowed = allowed

    @classmethod
    def of(cls, path: str, value: object, allowed: str) -> Self:
        """A member has a wrong value."""
        return cls(path, f"{str(value)[:200]!r} is not allowed", allowed)
