"""Paths before they are looked up: ``/contexts/{ctx}/…`` becomes qualified names, and aliases are followed."""

from dataclasses import dataclass, field, replace

from treaty.api.caller import refuse_hidden_alias
from treaty.api.confluent.query import Query
from treaty.core.limits import ALIASES_KNOWN, NAME_LENGTH
from treaty.core.names import DEFAULT_CONTEXT, context_of, subject_of
from treaty.core.refusals import Invalid, SettingNotFound
from treaty.core.registry import AsyncRegistry, Call
from treaty.core.requests import GetConfig, Scope

Segments = tuple[str, ...]


def in_context(segments: Segments, query: Query) -> tuple[Segments, Query]:
    """Take a context prefix off a path and qualify with it what the rest names.

    Names that are qualified already stay as they are. Raises `Invalid` for a context with a colon.
    """
    if len(segments) < 3 or segments[0] != "contexts":
        return segments, query
    word, rest = segments[1], segments[2:]
    bare = word.removeprefix(":").removesuffix(":") if word.startswith(":.") else word
    if ":" in bare:
        raise Invalid.of("CONTEXT_NAME", f"Context name '{word}' cannot contain a colon", new=word, allowed="no colon")
    context = context_of(bare) if bare else DEFAULT_CONTEXT
    prefix = f":{context}:"
    if rest[0] in {"config", "mode"}:
        return (rest[0], _qualified(prefix, rest[1] if len(rest) > 1 else ""), *rest[2:]), query
    if rest in {("schemas",), ("subjects",)}:
        return rest, query.with_member("subjectPrefix", _qualified(prefix, query.get("subjectPrefix") or ""))
    if rest[:2] == ("schemas", "ids"):
        return rest, query.with_member("subject", _qualified(prefix, query.get("subject") or ""))
    at = _subject_place(rest)
    return (rest if at is None else (*rest[:at], _qualified(prefix, rest[at]), *rest[at + 1 :])), query


def _qualified(prefix: str, name: str) -> str:
    return name if name.startswith((":.", ":*:")) else prefix + name


def _subject_place(segments: Segments) -> int | None:
    """Where the subject stands in a path that names one; config and mode are left out, aliases don't count there."""
    for at in (0, 1):
        if (
            len(segments) > at + 1
            and segments[at] == "subjects"
            and (at == 0 or segments[0] in {"compatibility", "associations"})
        ):
            return at + 1
    return None


@dataclass(slots=True)
class Aliases:
    """Aliases of subjects. Nearly every path names a subject, and few have an alias.

    For a GET they come from memory and are remembered until the next commit, so that they cost no look at the log. What
    may write takes a look first: it must not land under a name that an alias, set through another node, has replaced.
    """

    registry: AsyncRegistry
    known: dict[str, str | None] = field(default_factory=dict)
    epoch: int = 0
    """Rises whenever aliases are forgotten; an answer that was asked for before is not remembered."""

    def empty(self) -> None:
        """Forget all: a commit has been applied."""
        self.epoch += 1
        self.known.clear()

    async def follow(self, method: str, segments: Segments, query: Query, call: Call) -> tuple[Segments, Query]:
        """Replace a subject by its alias: one hop, and an unqualified alias stays in the subject's context."""
        if method != "GET" and not call.consistency:
            call = replace(call, consistency="latest")
        at = _subject_place(segments)
        if at is not None:
            alias = await self._alias(segments[at], call)
            refuse_hidden_alias(segments[at], alias)
            return ((*segments[:at], alias, *segments[at + 1 :]) if alias else segments), query
        named = query.get("subject") if segments[:2] == ("schemas", "ids") else None
        alias = await self._alias(named, call) if named else None
        refuse_hidden_alias(named or "", alias)
        return segments, query.with_member("subject", alias) if alias else query

    async def _alias(self, text: str, call: Call) -> str | None:
        plain = not call.consistency and call.after is None
        if plain and text in self.known:
            return self.known[text]
        epoch = self.epoch
        alias = await self._asked(text, call)
        if plain and epoch == self.epoch and len(self.known) < ALIASES_KNOWN and len(text) <= NAME_LENGTH:
            self.known[text] = alias
        return alias

    async def _asked(self, text: str, call: Call) -> str | None:
        subject = subject_of(text)
        if not subject.name or subject.context == "*":
            return None
        call = replace(call, consistency=call.consistency or "eventual", command_id="")
        try:
            found = await self.registry.ask(GetConfig(Scope(*subject)), call)
        except SettingNotFound:
            return None
        alias = found.answer.config.alias
        return str(subject.sibling(alias)) if alias else None
