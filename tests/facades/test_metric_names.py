"""ServerMetrics have the names that Prometheus expects: a noun, its unit, `_total` for counters alone; each has a help text of its own."""

import re
from dataclasses import fields

from treaty.api.metrics import ENTRIES, HELP, NAMES, ServerMetrics, help_of, metric_name
from treaty.node.status import NodeCounts


def test_every_number_has_a_help_text_and_a_name_of_its_own() -> None:
    counted = [f"node_{one.name}" for one in fields(NodeCounts)]
    assert [name for name in counted if name not in HELP or name not in NAMES] == []
    names = [metric_name(name) for name in HELP]
    assert len(names) == len(set(names))
    assert [name for name in NAMES if name not in HELP] == []


def test_the_page_has_these_names() -> None:
    metrics = ServerMetrics()
    metrics.set_counter("hot_hits", 3)
    metrics.set_counter("node_handed", 2)
    metrics.set_gauge("behind", 1)
    metrics.count_answer("GET", "/subjects", 200, 0.01)
    page = metrics.page().decode()
    assert "treaty_response_cache_hits_total 3.0" in page
    assert "treaty_commands_forwarded_total 2.0" in page
    assert 'treaty_log_lag_commits{worker="0"} 1.0' in page
    assert 'treaty_http_request_duration_seconds_count{route="/subjects"} 1.0' in page
    assert f"# HELP treaty_log_lag_commits {help_of('behind')}" in page
    assert not re.search(r"treaty_(node_|hot_|looked|behind)", page)


def test_at_the_limit_of_numbers_updates_are_dropped_and_counted() -> None:
    metrics = ServerMetrics()
    room = ENTRIES - len(metrics.numbers.places)
    for number in range(room):
        metrics.set_gauge(f"number_{number}", number)
    metrics.count_answer("GET", "/subjects", 200, 7.5)
    metrics.set_gauge("behind", 100)
    metrics.set_gauge("number_0", 9)
    page = metrics.page().decode()
    assert "treaty_metric_updates_dropped_total 4.0" in page, "a request is three numbers, a gauge one"
    assert "treaty_starts_total 1.0" in page
    assert 'treaty_number_0{worker="0"} 9.0' in page
    assert f'treaty_number_{room - 1}{{worker="0"}} {room - 1}.0' in page
    assert "/subjects" not in page
    assert "treaty_log_lag_commits" not in page


def test_a_number_whose_labels_are_too_long_is_dropped_and_counted() -> None:
    metrics = ServerMetrics()
    metrics.count_answer("GET", "/" + "x" * 200, 200, 0.01)
    assert "treaty_metric_updates_dropped_total 3.0" in metrics.page().decode()
