"""Which lives the soak lives: as many of each log as `--seeds` says, from `--first-seed` on."""

import pytest

BLOCK = 250
"""Seeds in one test, so that the work can be shared."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Blocks of seeds for tests that take `lives`."""
    if "lives" in metafunc.fixturenames:
        first, count = metafunc.config.option.first_seed, metafunc.config.option.seeds
        blocks = [range(one, min(one + BLOCK, first + count)) for one in range(first, first + count, BLOCK)]
        metafunc.parametrize("lives", blocks, ids=lambda one: f"{one.start}-{one.stop - 1}")
