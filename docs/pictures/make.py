"""Takes the pictures of the pages that README and the documentation show, with a Chromium without a window: `make pictures`."""

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

from tests.pages.registry import post
from tests.pages.test_query_pages import runner_that_says
from tests.real.running import Running, serving
from treaty.assemble import open_node
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.runners import AcquireRunner, AssignQueries, QueryPart
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.registry import AsyncRegistry
from treaty.core.schema import Draft
from treaty.core.sources import QueryPlan, SourceColumn, SourcePart, SourceRead

FOLDER = Path(__file__).parent
MONEY = {"type": "record", "name": "Money", "namespace": "org.acme", "fields": [
    {"name": "amount", "type": "long"}, {"name": "currency", "type": "string"},
]}  # fmt: skip
ADDRESS = {"type": "record", "name": "Address", "namespace": "org.acme", "fields": [
    {"name": "street", "type": "string"}, {"name": "city", "type": "string"},
]}  # fmt: skip
CUSTOMER = {"type": "record", "name": "Customer", "namespace": "org.acme", "fields": [
    {"name": "id", "type": "long"}, {"name": "email", "type": "string", "confluent:tags": ["PII"]}, {"name": "home", "type": "Address"},
]}  # fmt: skip
ORDER = {"type": "record", "name": "Order", "namespace": "org.acme", "fields": [
    {"name": "id", "type": "long"}, {"name": "total", "type": "Money"}, {"name": "buyer", "type": "Customer"},
]}  # fmt: skip
INVOICE = {"type": "record", "name": "Invoice", "namespace": "org.acme", "fields": [
    {"name": "order", "type": "Order"}, {"name": "sum", "type": "Money"},
]}  # fmt: skip
REFUND = {"type": "record", "name": "Refund", "namespace": "org.acme", "fields": [{"name": "sum", "type": "Money"}]}
FIELDS: list[object] = [
    {"name": "carrier", "type": "string", "doc": "IATA code of the airline, such as UA."},
    {"name": "flight", "type": "int", "doc": "Number of the flight."},
    {"name": "delay", "type": ["null", "int"], "default": None, "doc": "Minutes at arrival; negative is early."},
]
CONTACT = {"type": "record", "name": "Contact", "fields": [
    {"name": "email", "type": "string", "confluent:tags": ["PII"], "doc": "Where to write to."},
]}  # fmt: skip
FLIGHT = {"type": "record", "name": "Flight", "namespace": "org.acme.air", "fields": FIELDS}
LATER = {**FLIGHT, "fields": [*FIELDS, {"name": "passenger", "type": ["null", CONTACT], "default": None}]}
NULLABLE = {"name": "passenger", "type": ["null", CONTACT], "default": None}
NUMBER = {"name": "flight", "type": "string", "doc": "Number of the flight."}
BROKEN = {**FLIGHT, "fields": [FIELDS[0], NUMBER, FIELDS[2], NULLABLE, {"name": "gate", "type": "string"}]}
NAMES = {
    "org.acme.Money": "money",
    "org.acme.Address": "address",
    "org.acme.Customer": "customer",
    "org.acme.Order": "orders-value",
}
SCHEMAS: list[tuple[str, object, list[str]]] = [
    ("money", MONEY, []), ("address", ADDRESS, []), ("customer", CUSTOMER, ["org.acme.Address"]),
    ("orders-value", ORDER, ["org.acme.Money", "org.acme.Customer", "org.acme.Address"]),
    ("invoices-value", INVOICE, ["org.acme.Order", "org.acme.Money", "org.acme.Customer", "org.acme.Address"]),
    ("refunds-value", REFUND, ["org.acme.Money"]), ("flights-value", FLIGHT, []), ("flights-value", LATER, []),
]  # fmt: skip
SQL = "CREATE STREAM flights WITH (TOPIC='flights', VALUE_FORMAT='AVRO', VALUE_SUBJECT='flights-value');"
PASSENGER = {"type": "record", "name": "Passenger", "fields": [
    {"name": "name", "type": "string"}, {"name": "email", "type": "string", "confluent:tags": ["PII"]},
]}  # fmt: skip
BOOKING = {"type": "record", "name": "Booking", "namespace": "org.acme.air", "doc": "A seat on a flight.", "fields": [
    {"name": "id", "type": "long"}, {"name": "passenger", "type": PASSENGER}, {"name": "price", "type": "double", "doc": "In euros."},
]}  # fmt: skip
COLUMNS = (
    SourceColumn("id", "BIGINT"),
    SourceColumn("passenger", "STRUCT<name: STRING, email: STRING>"),
    SourceColumn("price", "DOUBLE"),
)
READ_AT = 1_764_400_000_000
"""When the queries of the pictures have read last, in milliseconds since the epoch."""


async def add_readers(log: str, address: str, said: list[Mapping[str, object]]) -> None:
    """Make a stream over bookings, two queries that read it, and their runner, which says what each has read."""
    async with open_node(log) as registry:
        schema = Register(subject_of("bookings-value"), Draft(json.dumps(BOOKING)))
        stream = m.SourceDefinition("bookings", "STREAM", "", COLUMNS, value=SourcePart("AVRO"), place="bookings")
        bookings = (await registry.ask(m.CreateSource(stream, value_schema=schema))).answer
        lease = (await registry.ask(AcquireRunner("r1", "holder", address))).answer
        parts = []
        for name, column, rows in (("confirmations", "passenger.email", 12_345), ("revenue", "price", 9_870)):
            read = SourceRead("bookings", bookings.generation, "bookings", columns=(column,))
            parts.append(await _add_query(registry, name, read))
            reads = {
                "source": "bookings",
                "generation": bookings.generation,
                "columns": [column],
                "rows": rows,
                "time": READ_AT,
            }
            said.append({"part": "query", "generation": parts[-1].generation, "reads": [reads]})
        await registry.ask(AssignQueries("r1", lease.epoch, tuple(parts)))


async def _add_query(registry: AsyncRegistry, name: str, read: SourceRead) -> QueryPart:
    plan = QueryPlan(" ".join(("SELECT", *read.columns, "FROM STREAM bookings")), (read,), engine="pictures")
    columns = (SourceColumn("value", "STRING"),)
    query = m.SourceDefinition(name, "STREAM", f"CREATE STREAM {name}", columns, connector="delta", query=plan)
    return QueryPart(name, (await registry.ask(m.CreateSource(query))).answer.generation, "query")


def fill(server: Running) -> None:
    """Register what the pictures show."""
    for subject, schema, uses in SCHEMAS:
        references = [{"name": name, "subject": NAMES[name], "version": 1} for name in uses]
        post(server, f"/subjects/{quote(subject)}/versions", {"schema": json.dumps(schema), "references": references})
    post(server, "/metastore/v1/statements", {"sql": SQL})


def take(page: Page, server: Running) -> None:
    """Take every picture."""
    page.goto(f"{server.base}/ui/try?subject=flights-value")
    page.fill("textarea[name=text]", json.dumps(BROKEN, indent=2))
    page.click("text=Try it")
    page.screenshot(path=FOLDER / "refusal.png", full_page=True, clip={"x": 0, "y": 55, "width": 1100, "height": 1060})
    for name, address, height in (
        ("compare", "compare?left=flights-value@1&right=flights-value@2", 760),
        ("graph", "graph?subject=orders-value", 420),
        ("schema", "schema?subject=flights-value&version=2", 700),
        ("search", "search?q=field:email+tag:PII", 420),
        ("readers", "schema?subject=bookings-value", 620),
    ):
        page.set_viewport_size({"width": 1100, "height": height})
        page.goto(f"{server.base}/ui/{address}")
        page.screenshot(path=FOLDER / f"{name}.png")


def main() -> None:
    """Start a server, fill it, and take the pictures."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        sys.exit("no Chromium is installed: apt-get install chromium")
    said: list[Mapping[str, object]] = []
    with tempfile.TemporaryDirectory() as folder, runner_that_says(lambda: {"queries": said}) as address:
        log = f"sqlite://{folder}/log.db"
        asyncio.run(add_readers(log, address, said))
        with serving(Path(folder), "--log", log) as server, sync_playwright() as playwright:
            fill(server)
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            take(browser.new_page(viewport={"width": 1100, "height": 760}), server)
            browser.close()


if __name__ == "__main__":
    main()
