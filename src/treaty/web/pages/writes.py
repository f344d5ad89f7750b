"""Changes from pages: register, set a policy, pause. Each is shown first, with the command that does the same."""

import shlex
from collections.abc import Mapping
from typing import Any

from treaty.core.column_types.tokens import print_name
from treaty.core.finding import Diagnostic
from treaty.core.messages.metastore.sources import DescribeSource, SetSourceState
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import subject_of
from treaty.core.policy import LEVELS
from treaty.core.refusals import InvalidSchema
from treaty.core.sources import PAUSED, RUNNING
from treaty.web.pages.page import PageError, PageMoved, PageRequest, WebPage
from treaty.web.pages.subject import own_config
from treaty.web.pages.templates import link_to
from treaty.web.pages.trial import find_start, form_values, print_references, read_draft
from treaty.web.schemas.texts import lay_out

SUFFIXES = {"AVRO": ".avsc", "JSON": ".json", "PROTOBUF": ".proto"}


def confirm(title: str, words: str, command: str, members: Mapping[str, str], **more: Any) -> WebPage:
    """Return the page that shows a change before it is made: what happens, and the command that does the same."""
    values = {
        "title_name": title,
        "words": words,
        "command": command,
        "members": {**members, "confirmed": "yes"},
        "notes": more.get("notes", ()),
        "is_dangerous": more.get("is_dangerous", False),
        "action": more["action"],
        "back": more["back"],
    }
    return WebPage("confirm.html", title, values, "subjects")


def with_address(request: PageRequest, command: str) -> str:
    """Return a command of the terminal with the registry that it is meant for."""
    return f"export TREATY_REGISTRY={shlex.quote(request.server.address)}\n{command}"


# ------------------------------------------------------------------------------------------------------ register


async def show_registration(request: PageRequest) -> WebPage:
    """Show the form for a new version of a subject."""
    version = await find_start(request)
    text = lay_out(version.format, version.text) if version else ""
    references = print_references(version.references) if version else ""
    values = form_values(request.raw("subject"), version.format if version else "AVRO", text, references)
    return WebPage("register.html", "Register a version", {**values, "faults": ()}, "subjects")


async def register(request: PageRequest) -> WebPage | PageMoved:
    """Register the text in the form, once it is confirmed."""
    form = request.form or {}
    subject, draft = read_draft(request)
    if form.get("confirmed") != "yes":
        file = f"{subject.name.rpartition('/')[2] or 'schema'}{SUFFIXES.get(draft.format, '.txt')}"
        reference_options = " ".join(
            f"--reference {shlex.quote(f'{reference.name}={reference.subject}:{reference.version}')}"
            for reference in draft.references
        )
        command = f"treaty schema register {shlex.quote(str(subject))} {shlex.quote(file)} {reference_options}".rstrip()
        members = {name: form.get(name, "") for name in ("subject", "format", "text", "references")}
        return confirm(
            f"Register a version of {subject}", f"The text becomes the latest version of {subject}, if its policy takes it.",
            with_address(request, command), members, action="register", back=link_to("subject", name=str(subject)),
        )  # fmt: skip
    try:
        stored = await request.ask(Register(subject, draft))
    except InvalidSchema as refusal:
        values = form_values(form.get("subject", ""), draft.format, draft.text, form.get("references", ""))
        faults = refusal.faults or (Diagnostic(refusal.reason.rule, "", str(refusal)),)
        return WebPage("register.html", "Register a version", {**values, "faults": faults}, "subjects", 422)
    return PageMoved(link_to("schema", subject=stored.version.subject, version=stored.version.number))


# -------------------------------------------------------------------------------------------------------- policy


async def show_policy(request: PageRequest) -> WebPage:
    """Show the form for the level of a subject."""
    subject = request.subject()
    own = await own_config(request, Scope(*subject))
    values = {"name": str(subject), "levels": list(LEVELS), "own": own.level or ""}
    return WebPage("policy.html", f"Policy of {subject}", values, "subjects")


async def set_policy(request: PageRequest) -> WebPage | PageMoved:
    """Set or delete the level of a subject, once it is confirmed."""
    form = request.form or {}
    name, level = form.get("name", ""), form.get("level", "")
    if not name or (level and level not in LEVELS):
        raise PageError(400, "the form names no subject, or a level that does not exist", f"one of {', '.join(LEVELS)}")
    subject = subject_of(name)
    if form.get("confirmed") != "yes":
        command = (
            f"treaty config set {shlex.quote(name)} --level {level}"
            if level
            else f"treaty config set {shlex.quote(name)} --unset level"
        )
        words = (
            f"New versions of {name} are then checked under {level}."
            if level
            else f"{name} then has the level of its context."
        )
        notes = ("Versions that are there stay, whatever the new level says of them.",)
        return confirm(
            f"Change the policy of {name}", words, with_address(request, command), {"name": name, "level": level},
            action="policy", back=link_to("subject", name=name), notes=notes,
        )  # fmt: skip
    change: Request[Any] = SetConfig(Scope(*subject), Config(level=level or None), () if level else ("level",))
    await request.ask(change)
    return PageMoved(link_to("subject", name=name))


# --------------------------------------------------------------------------------------------------------- pause


async def show_pause(request: PageRequest) -> WebPage:
    """Show what pausing or resuming the query of a source does."""
    source = (await request.ask(DescribeSource(request.raw("name")))).source
    if source.query is None:
        raise PageError(409, f"{source.name} has no query")
    state = PAUSED if source.desired == RUNNING else RUNNING
    verb = "PAUSE" if state == PAUSED else "RESUME"
    words = (
        f"The query of {source.name} stops, and keeps its place."
        if state == PAUSED
        else f"The query of {source.name} goes on where it stopped."
    )
    command = f"treaty sql -e {shlex.quote(f'{verb} {print_name(source.name)}')}"
    return confirm(
        f"{verb.capitalize()} the query of {source.name}", words, with_address(request, command),
        {"name": source.name, "state": state}, action="pause", back=link_to("source", name=source.name),
    )  # fmt: skip


async def pause(request: PageRequest) -> PageMoved:
    """Pause or resume a query; the form comes from the page that has shown it."""
    form = request.form or {}
    if form.get("confirmed") != "yes" or form.get("state") not in {PAUSED, RUNNING}:
        raise PageError(400, "the form can't be read", "open the source, and begin with Pause there")
    await request.ask(SetSourceState(form.get("name", ""), form["state"]))
    return PageMoved(link_to("source", name=form.get("name", "")))
