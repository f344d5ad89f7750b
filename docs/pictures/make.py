"""Takes the pictures of the pages that README and the documentation show, with a Chromium without a window: `make pictures`."""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

from tests.pages.registry import post
from tests.real.running import Running, serving

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
    ):
        page.set_viewport_size({"width": 1100, "height": height})
        page.goto(f"{server.base}/ui/{address}")
        page.screenshot(path=FOLDER / f"{name}.png")


def main() -> None:
    """Start a server, fill it, and take the pictures."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        sys.exit("no Chromium is installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), "--log", f"sqlite://{folder}/log.db") as server:
        fill(server)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            take(browser.new_page(viewport={"width": 1100, "height": 760}), server)
            browser.close()


if __name__ == "__main__":
    main()
