"""Options of the data source that can't be meant: the error has the option as people write it, and what may be there."""

import pytest

from treaty.plan.errors import PlanError
from treaty.spark.datasource.options import KNOWN, TopicChoice, read_options

TOPIC = {"registry": "http://h", "subscribe": "flights", "kafka.bootstrap.servers": "b:1"}


def test_an_unknown_option_leads_to_what_each_may_be() -> None:
    assert [name for name, values in KNOWN.items() if not values] == []
    with pytest.raises(PlanError, match=r"lossy \(refuse, double, allow\)"):
        read_options({**TOPIC, "losy": "allow"})


@pytest.mark.parametrize("name", ["failOnDataLoss", "includeHeaders", "flatten"])
def test_a_switch_that_is_neither_true_nor_false_is_named_as_it_is_written(name: str) -> None:
    with pytest.raises(PlanError, match=f"^{name} = 'maybe' is neither true nor false"):
        read_options({**TOPIC, name: "maybe"})


def test_offsets_that_were_deleted_are_skipped_where_their_loss_is_no_failure() -> None:
    for text, skips in (("true", False), ("False", True)):
        place = read_options({**TOPIC, "failOnDataLoss": text, "lossy": "allow"}).place
        assert isinstance(place, TopicChoice)
        assert place.skips_deleted is skips
        assert place.headers is False
