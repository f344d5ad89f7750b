"""The bench on which the law is tried: with answers at hand, with answers that have to be asked for, and in a registry in
which others have been at work.
"""

import pytest

from tests.laws.begun import begun
from tests.laws.toy import Bench


@pytest.fixture(params=["at-once", "after-needs", "after-others"])
def bench(request: pytest.FixtureRequest) -> Bench:
    return begun() if request.param == "after-others" else Bench(slow=request.param == "after-needs")
