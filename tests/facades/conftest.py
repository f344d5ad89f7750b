"""The application over a member that answers what it was told to."""

import pytest
from starlette.testclient import TestClient

from tests.facades.doors import Provider
from tests.facades.twin import Fixed
from treaty.api.application import build_application


@pytest.fixture
def member() -> Fixed:
    return Fixed()


@pytest.fixture
def http(member: Fixed) -> TestClient:
    return TestClient(build_application(member).dispatcher, raise_server_exceptions=False)


@pytest.fixture(scope="session")
def provider() -> Provider:
    made = Provider()
    made.make("k1")
    made.make("k2")
    for algorithm in ("ES256", "ES384", "ES512", "EdDSA"):
        made.make(algorithm, algorithm)
    return made
