"""`treaty iglu keygen VENDOR`: API keys of a vendor, the end of one, and super keys."""

from uuid import UUID, uuid4

import click

from treaty.cli.iglu.server_options import find_api, registry_option, report_unreachable
from treaty.cli.terminal import options, screen
from treaty.cli.terminal.source import UnusableError
from treaty.client.iglu.server_client import IgluServer, ServerAnswer
from treaty.core.urls import hide_credentials
from treaty.wire.iglu.api_keys import digest_of


@click.command("keygen", epilog="Exit code 0: done. 2: wrong options, or the server refused.")
@click.argument("vendor", required=False)
@registry_option(required=False)
@click.option(
    "--apikey",
    envvar="TREATY_IGLU_APIKEY",
    show_envvar=True,
    metavar="UUID",
    help="A key that may make keys: a super key.",
)
@click.option("--delete", "gone", metavar="UUID", help="Remove this key.")
@click.option("--super", "is_super", is_flag=True, help="Print a new super key, and its digest for the rights file.")
@options.as_json
def keygen(
    *, vendor: str | None, registry: str | None, apikey: str | None, gone: str | None, is_super: bool, as_json: bool
) -> None:
    """Make two API keys for VENDOR on an Iglu server: one that reads, and one that publishes too. They are shown once.

    \b
    Examples:
      treaty iglu keygen --super
      treaty iglu keygen com.acme --registry http://127.0.0.1:8081 \\
        --apikey "$SUPER"
      treaty iglu keygen --delete "$KEY" \\
        --registry http://127.0.0.1:8081 --apikey "$SUPER"
    """  # noqa: D301 - click wants the control character
    if (vendor is not None) + (gone is not None) + is_super != 1:
        raise click.UsageError("give one of VENDOR, --delete and --super")
    if is_super:
        key = uuid4()
        _say({"key": str(key), "digest": digest_of(key)}, as_json=as_json)
        return
    if registry is None:
        raise click.UsageError("give the server by --registry, or in TREATY_REGISTRY")
    with IgluServer(find_api(registry), apikey) as server, report_unreachable():
        answer = server.generate_keys(vendor) if vendor is not None else server.delete_key(_uuid(gone or ""))
    if answer.status not in {200, 201}:
        raise UnusableError(f"{hide_credentials(registry)} refused: {answer.status} {answer.message}")
    _say(_facts(answer), as_json=as_json)


def _facts(answer: ServerAnswer) -> dict[str, str]:
    body = answer.body
    return {name: str(text) for name, text in body.items()} if isinstance(body, dict) else {}


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise click.BadParameter(f"{text[:100]!r} is no UUID", param_hint="--delete") from None


def _say(facts: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        screen.say_json(facts)
    else:
        screen.say_facts(facts)
