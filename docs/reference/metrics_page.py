"""Makes the page of metrics from their table; `make.py` writes it."""

from treaty.api.metrics import COUNTERS, HELP, REQUESTS_HELP, SECONDS_HELP, metric_name

_HEAD = """# Metrics

All metrics of `/metrics`. Counters are of all workers together, and gauges have a label `worker`. [Operate](../howto/operate.md#numbers) says which of them
call for action.

| metric | kind | meaning |
|---|---|---|
"""


def page() -> str:
    """Every metric of a server, with its kind and meaning."""
    rows = [
        ("treaty_http_requests_total{method,route,status}", "counter", REQUESTS_HELP),
        ("treaty_http_request_duration_seconds{route}", "histogram", SECONDS_HELP),
    ]
    for name, sentence in HELP.items():
        is_counter = name in COUNTERS
        rows.append((metric_name(name) + "_total" * is_counter, "counter" if is_counter else "gauge", sentence))
    return _HEAD + "".join(f"| `{name}` | {kind} | {sentence} |\n" for name, kind, sentence in sorted(rows))
