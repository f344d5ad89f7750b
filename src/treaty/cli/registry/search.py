"""`treaty search`: subjects, sources and queries of a registry that fit words and terms."""

import click
import msgspec

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.core.limits import SEARCH_PAGE
from treaty.core.messages.search import SearchResults
from treaty.wire.search import USUAL_PAGE, search_body


@click.command("search", epilog="Exit code 0: something fits. 1: nothing does, or the registry refuses. 2: no answer.")
@click.argument("words", nargs=-1, required=True, metavar="SEARCH...")
@click.option(
    "--limit", type=click.IntRange(1, SEARCH_PAGE), default=USUAL_PAGE, show_default=True, help="Hits of one page."
)
@click.option("--after", default="", metavar="PLACE", help="Begin after the page that ended with PLACE.")
@connection.registry
@connection.as_json
def command(*, words: tuple[str, ...], limit: int, after: str, registry: str, as_json: bool) -> None:
    """Find schemas by their fields, types, tags, documentation and names.

    SEARCH is words and terms, all of which must hold. Terms are field, type,
    tag, doc, owner, subject, format, context, origin, state and kind. A value
    with spaces is quoted, and * stands for any characters in the name of a
    field.

    \b
    Examples:
      export TREATY_REGISTRY=http://localhost:8081
      treaty search email
      treaty search 'field:carrier type:string tag:PII'
      treaty search 'field:*mail* format:AVRO'
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as opened:
        results = opened.search(" ".join(words), after=after, limit=limit)
    if as_json:
        screen.say_json(msgspec.to_builtins(search_body(results)))
    else:
        _say_results(results)
    if not results.hits:
        raise SystemExit(1)


def _say_results(results: SearchResults) -> None:
    rows = [
        (hit.name, str(hit.number or ""), hit.format or hit.kind.upper(), ", ".join(hit.fields)) for hit in results.hits
    ]
    if rows:
        screen.say_rows(("name", "version", "format", "fields"), rows)
    count = f"more than {results.count:,}" if results.more else f"{results.count:,}"
    facets = ", ".join(f"{facet.value} {facet.count:,}" for facet in results.facets if facet.facet == "format")
    screen.say(f"{count} found{f': {facets}' if facets else ''}")
    if results.last:
        screen.say(f"the next page: --after {results.last}")
