"""`treaty openapi`: the description of the HTTP interface, for generators of clients and for gateways."""

import json

import click

from treaty.api.confluent.openapi.document import document
from treaty.api.confluent.openapi.page import page


@click.command("openapi")
@click.option("--html", is_flag=True, help="The page for people instead.")
def command(*, html: bool) -> None:
    """Print the OpenAPI 3.1 document that a server answers under /openapi.json."""
    described = document()
    click.echo(page(described).html if html else json.dumps(described, indent=2, ensure_ascii=False), nl=not html)
