"""`treaty plan DIR` and `treaty apply DIR`: a folder of schemas as the desired state of a registry."""

import sys

import click

from treaty.assemble import connect
from treaty.cli.nouns import asking
from treaty.cli.terminal import screen
from treaty.cli.transfer.ends import bar, red, say_problems
from treaty.cli.transfer.folder import folder_of
from treaty.client.transfer.applying import Applied, Change, apply
from treaty.client.transfer.desired import desired
from treaty.formats.registry import find_formats

FINE, REFUSED = 0, 1
MARKS = {"unchanged": " ", "new subject": "+", "new version": "~", "refused": "!"}
COLOURS = {"new subject": "green", "new version": "yellow", "refused": "red"}

folder = click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))


@click.command("plan", epilog="Exit code 0: it can be applied. 1: something would be refused. 2: unusable input.")
@folder
@asking.registry
@asking.as_json
def plan(folder: str, *, registry: str, as_json: bool) -> None:
    """Say what `treaty apply DIR` would do, and write nothing.

    Every schema file in DIR is the latest version that its subject should have. The subject is the file's name without
    its ending, unless treaty.toml says otherwise. Names that a text needs are looked for among the other files: the full
    name of an Avro type, the path of an import or $ref.

    \b
    treaty.toml, if there is one:
      [plan]
      context = ".prod"
      level = "BACKWARD"
      [plan.subjects.orders-value]
      file = "order.avsc"
      level = "FULL"
      references = { "org.acme.Money" = "money-value:2" }
    \b
    Example:
      treaty plan schemas/ --registry http://127.0.0.1:8081
    """  # noqa: D301 - click wants the control character
    _run(folder, registry, as_json=as_json, dry_run=True)


@click.command("apply", epilog="Exit code 0: applied. 1: refused, nothing written. 2: unusable input.")
@folder
@asking.registry
@asking.as_json
def apply_(folder: str, *, registry: str, as_json: bool) -> None:
    """Make the registry have what DIR has: new versions, in the order in which they need each other, and levels.

    Everything is tried in memory first; where anything is refused, nothing is written. Subjects that DIR does not have
    are left alone. See `treaty plan --help` for what belongs into DIR.

    \b
    Example:
      treaty apply schemas/ --registry http://127.0.0.1:8081
    """  # noqa: D301 - click wants the control character
    _run(folder, registry, as_json=as_json, dry_run=False)


def _run(folder: str, registry: str, *, as_json: bool, dry_run: bool) -> None:
    formats = find_formats()
    wanted = desired(folder_of(folder, formats).wishes(), formats)
    with asking.asked(registry) as target, connect("memory:") as rehearsal, bar() as told:
        done = apply(wanted, target, rehearsal, dry_run=dry_run, told=told)
    if as_json:
        screen.say_json(_members(done, dry_run=dry_run))
    else:
        _say(done, dry_run=dry_run)
    sys.exit(FINE if done.fine else REFUSED)


def _members(done: Applied, *, dry_run: bool) -> dict[str, object]:
    changes = [
        {
            "subject": str(one.wish.subject),
            "file": one.wish.path,
            "change": one.kind,
            "version": one.number or None,
            "settings": [{"member": name, "old": old, "new": new} for name, old, new in one.settings],
            "why": one.why,
        }
        for one in done.changes
    ]
    problems = [{"file": one.where, "what": one.what, "why": one.why} for one in done.problems]
    return {"dry_run": dry_run, "fine": done.fine, "changes": changes, "problems": problems}


def _say(done: Applied, *, dry_run: bool) -> None:
    say_problems(done.problems, red)
    for one in done.changes:
        _say_change(one)
    counts = {kind: sum(one.kind == kind for one in done.changes) for kind in MARKS}
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "nothing to do"
    if done.fine:
        screen.say(f"{'Would be' if dry_run else 'Applied'}: {told}.", "green")
    else:
        screen.say(f"Nothing is written: {told}, {len(done.problems)} problems.", "red", err=True)


def _say_change(one: Change) -> None:
    number = f" version {one.number}" if one.number else ""
    screen.say(f"{MARKS[one.kind]} {one.wish.subject}{number} ({one.wish.path}): {one.kind}", COLOURS.get(one.kind))
    for name, old, new in one.settings:
        screen.say(f"    {name}: {old} becomes {new}")
    if one.why:
        screen.say(f"    {one.why}", "red")
