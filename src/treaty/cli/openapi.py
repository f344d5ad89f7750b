"""`treaty openapi`: prints the OpenAPI document, for client generators and gateways."""

import json

import click

from treaty.api.openapi.document import document
from treaty.api.openapi.page import page


@click.command("openapi")
@click.option("--html", is_flag=True, help="Print the HTML page instead.")
def command(*, html: bool) -> None:
    """Print the OpenAPI 3.1 document that a server returns at /openapi.json."""
    described = document()
    click.echo(page(described).html if html else json.dumps(described, indent=2, ensure_ascii=False), nl=not html)
