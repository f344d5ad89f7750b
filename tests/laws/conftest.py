"""The bench on which the law is tried: once with answers at hand, once with answers that have to be asked for."""

import pytest

from tests.laws.toy import Bench


@pytest.fixture(params=[False, True], ids=["at-once", "after-needs"])
def bench(request: pytest.FixtureRequest) -> Bench:
    return Bench(slow=request.param)
