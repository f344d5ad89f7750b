"""Calls that give sources other names: in bodies of queries, in texts about states, and in statements."""

import random
from collections.abc import Callable, Iterator, Mapping

from treaty.core.handlers.metastore.body_names import (
    UnclearNameError,
    rename_in_body,
    rename_in_state,
    rename_in_statement,
)

NAMES: tuple[Mapping[str, str], ...] = (
    {"clicks": "Web"}, {"clicks": "my web"}, {"clicks": "from"}, {"clicks": "visits"}, {"clicks": "visits", "visits": "clicks"}, {"clicks": "_topic"}, {"clicks": "page"}, {"orders": "Bestellung"}, {"clicks": "clicks2", "orders": "o2"}, {"clicks": "key"}, {"my source": "plain"}, {"Äpfel": "obst"}, {"orders": "Äpfel", "clicks": "ÖL"},
)  # fmt: skip
BODIES = (
    "SELECT page FROM STREAM clicks", "SELECT page FROM STREAM(clicks)", "SELECT page FROM STREAM(clicks) c", "SELECT c.page FROM STREAM clicks AS c", "SELECT clicks.page FROM STREAM clicks", "SELECT clicks.* FROM clicks", "SELECT * FROM clicks", "SELECT * FROM `clicks`",
    "SELECT * FROM Clicks", "SELECT * FROM CLICKS c", "SELECT * FROM clicks, orders", "SELECT * FROM orders, clicks", "SELECT * FROM clicks JOIN orders ON clicks.id = orders.id", "SELECT * FROM orders JOIN clicks c ON c.id = orders.id", "SELECT * FROM orders LEFT JOIN STREAM clicks USING (id)",
    "SELECT * FROM orders JOIN (clicks) ON true", "SELECT * FROM orders JOIN clicks(1)", "SELECT clicks FROM orders", "SELECT clicks(1) FROM clicks", "SELECT clicks AS x FROM clicks", "SELECT x AS clicks FROM STREAM clicks", "SELECT x AS clicks, clicks.y FROM STREAM clicks", "SELECT x clicks FROM STREAM clicks",
    "SELECT extract(DAY FROM clicks) FROM STREAM clicks", "SELECT trim(BOTH 'x' FROM clicks) FROM t", "TABLE clicks", "SELECT * FROM (TABLE clicks)", "SELECT * FROM TABLE(clicks)", "SELECT a, TABLE(clicks) FROM x", "SELECT * FROM STREAM (clicks) WHERE EXISTS (SELECT 1 FROM orders o WHERE o.id = clicks.id)", "SELECT STREAM clicks FROM x",
    "SELECT /*+ BROADCAST(clicks) */ * FROM STREAM clicks", "SELECT /*+ clicks(orders), MERGE(clicks, orders) */ clicks.a FROM clicks JOIN orders", "SELECT /* clicks */ page -- clicks\nFROM STREAM clicks", "SELECT 'clicks' FROM STREAM clicks", "SELECT named_struct('clicks', 1).* FROM STREAM clicks", "SELECT from_json(x, 'clicks INT').clicks.y, clicks.z FROM clicks",
    "SELECT t.clicks FROM t", "SELECT t.clicks, clicks.a FROM STREAM clicks JOIN t", "SELECT IDENTIFIER('clicks') FROM clicks", "SELECT identifier FROM clicks", "SELECT Web FROM STREAM clicks", "SELECT web.a FROM STREAM clicks", "SELECT x.Web FROM STREAM clicks x", "SELECT visits.a, clicks.b FROM STREAM visits JOIN clicks", "SELECT a FROM STREAM visits UNION ALL SELECT a FROM STREAM clicks",
    "SELECT window.start, clicks.page FROM STREAM clicks GROUP BY window(at, '1 hour')", "SELECT col1, clicks.col2 FROM STREAM clicks", "WITH clicks AS (SELECT 1) SELECT * FROM clicks", "WITH x AS (SELECT * FROM clicks) SELECT * FROM x", "SELECT f(x -> clicks.a) FROM clicks", "SELECT a FROM clicks => b", "SELECT a FROM clicks - 1", "SELECT a FROM t WHERE a = clicks", "SELECT clicks.page.x FROM `my source`, clicks",
    "SELECT * FROM `my source` m", "SELECT `my source`.a FROM STREAM(`my source`)", "SELECT * FROM `MY SOURCE`", "SELECT _topic, clicks._offset FROM STREAM clicks", "SELECT page, clicks.page FROM STREAM clicks", "SELECT explode(clicks.a) AS key FROM clicks", "SELECT * FROM clicks ORDER BY clicks.a", "SELECT 1", "", "clicks", "FROM clicks SELECT a", "SELECT * FROM STREAM `cli``cks`", "SELECT * FROM x.clicks", "SELECT * FROM STREAM clicks TABLESAMPLE (5 ROWS)",
    "SELECT from.clicks FROM STREAM clicks from", "SELECT a.from clicks FROM STREAM clicks a", "SELECT join FROM a.join clicks", "SELECT * FROM STREAM äpfel", "SELECT a.x FROM STREAM(Äpfel) a", "SELECT ÄPFEL.x FROM orders JOIN ÄPFEL",
)  # fmt: skip
STATEMENTS = (
    "CREATE STREAM clicks AS BODY", "CREATE OR REPLACE TABLE `clicks` (a INT) WITH (x = 'clicks') AS BODY", "CREATE STREAM IF NOT EXISTS clicks AS BODY;", "create stream Clicks as BODY", "CREATE STREAM if AS BODY", "/* STREAM clicks */ CREATE STREAM orders AS BODY", "CREATE TABLE clicks (clicks INT)", "INSERT INTO clicks BODY", "CREATE STREAM STREAM clicks", "CREATE VIEW clicks AS BODY", "", "BODY BODY",
    "CREATE STREAM `my source` AS BODY",
)  # fmt: skip
COLUMNS = (("page",), ("clicks", "n"), ("Web", "visits"), ("t", "src"))


def _rename(body: str, names: Mapping[str, str], columns: tuple[str, ...]) -> str:
    try:
        return rename_in_body(body, names, columns)
    except UnclearNameError as unclear:
        return f"unclear: {unclear}"


def call_renames() -> Iterator[str]:
    dice = random.Random("bodies")
    for body in BODIES:
        yield repr(body)
        for names in dice.sample(NAMES, 4):
            for columns in ((), dice.choice(COLUMNS)):
                yield f"  {[*names.items()]} {columns}: {_rename(body, names, columns)}"
            yield f"  state: {rename_in_state(body, names)}"
            for statement in dice.sample(STATEMENTS, 2):
                text, new = statement.replace("BODY", body), (body if dice.random() < 0.8 else "", "SELECT 1")
                yield f"  statement: {rename_in_statement(text, names, new)}"


CALLS: Mapping[str, Callable[[], Iterator[str]]] = {"renamed-bodies": call_renames}
