"""Being here puts this folder on the import path, so that every test finds `loopback`."""

import gc
import os
import sys
from pathlib import Path
from zlib import crc32

import pytest
import structlog
from hypothesis import settings
from loopback.forked import share
from servers import REQUIRED, Databases, NoServer, server

os.environ["SSL_CERT_FILE"] = str(Path(__file__).with_name("nobody.pem"))
"""No server of the tests speaks TLS: clients need not read all the world's certificates, which takes each 50 ms."""

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""Else every process of every test compiles all of it: three workers take 21 s of a processor to begin, not 12."""

MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of its own in it
ROOM_BYTES = 2 * 1024**3


def in_memory():
    """Say whether tests may write into memory: it is there, has room, and programs may be started from it."""
    try:
        found = os.statvfs(MEMORY)
    except OSError:
        return False
    return not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize > ROOM_BYTES


if in_memory():  # what a kill leaves is the same there; a fsync of a disk is not what is tested, and takes its time
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

settings.register_profile("quick", deadline=None, max_examples=10)  # machines are noisy: no test here is about time
settings.register_profile("soak", deadline=None, max_examples=1000)  # `make soak` asks for it by its name
settings.load_profile("quick")

plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])
"""As it was, but for tracebacks: to draw one with every variable of a bot takes seconds."""


def pytest_addoption(parser):
    parser.addoption("--write-pages", action="store_true", help="write the talks in docs/tutorial as the bot says them")
    parser.addoption("--database", choices=["sqlite", "postgres"], default="sqlite", help="what bots in tests live on")


def pytest_configure(config):
    """Let the workers of a run fork their bots from one process."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        share()


def pytest_collection_modifyitems(config, items):
    """Let the workers of a run begin all over the tests: files that wait stand side by side, and would wait at once."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: crc32(item.nodeid.partition("::")[0].encode()))  # a file's tests keep their order


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing that is imported or collected is garbage: it is not searched for any, neither now nor at every test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def write_pages(request):
    """Say whether pages that show a talk are to be written instead of compared."""
    return request.config.getoption("--write-pages")


ENGINES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
"""Every database that a memory can live on."""


@pytest.fixture(scope="session")
def postgres_server():
    """Return the address of a PostgreSQL server; without one the test is skipped, or fails where it is required."""
    try:
        with server() as url:
            yield url
    except (NoServer, ImportError) as exc:
        why = f"PostgreSQL is not tested: {exc}"
        if os.environ.get(REQUIRED):
            pytest.fail(why)
        pytest.skip(why)


@pytest.fixture(scope="session")
def postgres_databases(postgres_server):
    """Return what gives out empty databases."""
    databases = Databases(postgres_server)
    yield databases
    databases.close()


@pytest.fixture
def postgres(postgres_databases):
    """Return the address of an empty database of PostgreSQL with the tables of a bot."""
    with postgres_databases.lent() as address:
        yield address


@pytest.fixture(params=ENGINES)
def place(request, tmp_path, monkeypatch):
    """Return where a memory opens: a folder, then an address of PostgreSQL; checkpoints are in the test's folder."""
    if request.param == "sqlite":
        return tmp_path
    monkeypatch.chdir(tmp_path)
    return request.getfixturevalue("postgres")


@pytest.fixture
def address(place):
    """Return the database of that place as `migrate` and `open_database` want it."""
    return place if isinstance(place, str) else place / "continuity.db"
