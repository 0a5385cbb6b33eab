"""Being here puts this folder on the import path, so that every test finds `loopback`."""

import pytest
from hypothesis import settings

settings.register_profile("project", deadline=None)  # machines are noisy: no test here is about time
settings.load_profile("project")


def pytest_addoption(parser):
    parser.addoption("--write-pages", action="store_true", help="write the talks in docs/tutorial as the bot says them")


@pytest.fixture
def write_pages(request):
    """Say whether pages that show a talk are to be written instead of compared."""
    return request.config.getoption("--write-pages")
