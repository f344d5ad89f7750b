"""Try a change: a text is compared and checked as a registration would be, and nothing is written; statements of SQL too."""

from collections.abc import Sequence
from typing import Any

from treaty.core.finding import Diagnostic
from treaty.core.messages.differences import CompareVersions, ComparisonSide
from treaty.core.messages.request import LATEST
from treaty.core.messages.versions import GetVersion, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import InvalidSchema, NotFound
from treaty.core.schema import Draft, Reference
from treaty.formats.registry import find_formats
from treaty.metastore import AsyncMetastore
from treaty.web.pages.compare import comparison_values
from treaty.web.pages.page import PageError, PageRequest, WebPage, is_number
from treaty.web.schemas.texts import lay_out

LEVELS = (
    "NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE",
)  # fmt: skip


async def show_trial(request: PageRequest) -> WebPage:
    """Show the form, with the text of a version to begin from."""
    version = await find_start(request)
    subject = request.raw("subject")
    values = form_values(
        subject, version.format if version else "AVRO", lay_out(version.format, version.text) if version else "",
        print_references(version.references if version else ()),
    )  # fmt: skip
    return WebPage("try.html", "Try a change", {**values, **NOTHING}, "try")


async def find_start(request: PageRequest) -> VersionFound | None:
    """Return the version that the form begins with; None without a subject, and for one without versions."""
    if not request.raw("subject"):
        return None
    number = request.number("version", LATEST, lowest=LATEST)
    return await request.ask_or_none(GetVersion(request.subject("subject"), number, deleted=number != LATEST), NotFound)


NOTHING: dict[str, Any] = {"compared": None, "change": None, "faults": (), "level_rows": (), "may_register": False}
"""What the page has before a text was sent."""


async def try_text(request: PageRequest) -> WebPage:
    """Show what a registration of the text in the form would come to."""
    form = request.form or {}
    subject, draft = read_draft(request)
    values = form_values(form.get("subject", ""), draft.format, draft.text, form.get("references", ""))
    try:
        compared = await request.ask(CompareVersions(new=ComparisonSide(draft=draft), subject=subject))
    except InvalidSchema as refusal:
        faults = refusal.faults or (Diagnostic(refusal.reason.rule, "", str(refusal)),)
        return WebPage("try.html", "Try a change", {**values, **NOTHING, "faults": faults}, "try")
    change = compared.change
    by_level = {one.level: one for one in (change.levels if change else ())}
    verdict = {
        **await comparison_values(compared),
        "change": change,
        "faults": (),
        "level_rows": [by_level[name] for name in LEVELS if name in by_level],
        "may_register": request.viewer.may("register", subject) or request.viewer.may("bump", subject),
    }
    return WebPage("try.html", f"Try a change of {subject}", {**values, **verdict}, "try")


def form_values(subject: str, format_: str, text: str, references: str) -> dict[str, Any]:
    """Return what the form is filled with."""
    return {
        "subject": subject,
        "format": format_,
        "formats": find_formats().names,
        "text": text,
        "references": references,
    }


def read_draft(request: PageRequest) -> tuple[Subject, Draft]:
    """Return subject and draft of a form; raises `PageError`."""
    form = request.form or {}
    if not form.get("subject"):
        raise PageError(400, "the form names no subject", "write the name of the subject that would get the version")
    text = form.get("text", "").replace("\r\n", "\n")
    references = tuple(read_reference(line) for line in form.get("references", "").splitlines() if line.strip())
    return subject_of(form["subject"]), Draft(text, form.get("format", "AVRO").upper(), references)


def read_reference(line: str) -> Reference:
    """Return the reference in a line ``name = subject : version``; raises `PageError`."""
    name, equals, target = line.partition("=")
    subject, colon, version = target.strip().rpartition(":")
    number = version.strip()
    if not (equals and colon and subject) or not (number == "latest" or is_number(number)):
        raise PageError(
            400,
            f"the reference {line[:200]!r} can't be read",
            "write name=subject:version, such as org.acme.Money=money:1",
        )
    return Reference(name.strip(), subject.strip(), LATEST if number == "latest" else int(number))


def print_references(references: Sequence[Reference]) -> str:
    """Return references as the form has them, a line each."""
    return "\n".join(f"{one.name}={one.subject}:{one.version}" for one in references)


async def show_sql(request: PageRequest) -> WebPage:
    """Show the form for statements, and what they would come to, without writing."""
    sql = (request.form or {}).get("sql", "").replace("\r\n", "\n")
    outcome = None
    if sql.strip():
        outcome = await AsyncMetastore(request.registry, request.call).run_script(sql, dry_run=True)
    return WebPage("try-sql.html", "Try SQL", {"sql": sql, "outcome": outcome}, "try")
