"""The application over a member that answers what it was told to."""

import pytest
from starlette.testclient import TestClient

from tests.facades.twin import Fixed
from treaty.api.application import application


@pytest.fixture
def member() -> Fixed:
    return Fixed()


@pytest.fixture
def http(member: Fixed) -> TestClient:
    return TestClient(application(member).gate, raise_server_exceptions=False)
