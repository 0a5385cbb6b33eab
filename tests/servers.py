"""A PostgreSQL server for tests: one that listens, else one of their own, else a reason why there is none."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from bot.playground.keeper import free_port
from bot.tables import MEMORY_QUERY_FILES, MIGRATIONS
from memory.storage.migrate import available
from memory.storage.named_queries import load_queries

LISTENING = "postgresql://postgres@127.0.0.1:5432/postgres"
NAMED = "CONTINUITY_TEST_POSTGRES"
REQUIRED = "CONTINUITY_REQUIRE_POSTGRES"
PREFIX = "continuity_test_"
OLD_S = 3600
LOCK_WAIT_MS = 5_000
LOCALE = "ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'"
LEDGER = load_queries(MEMORY_QUERY_FILES)["create_schema_migrations"] + ";"
BINARIES = ("/usr/lib/postgresql/*/bin", "/usr/local/opt/postgresql*/bin", "/opt/homebrew/opt/postgresql*/bin")


class NoServer(Exception):
    """There is no PostgreSQL to test with; it says why."""


class Cluster:
    """A server of the tests' own, in a folder of its own, that may be killed."""

    def __init__(self, options: str = "") -> None:
        self._bin = postgres_programs()
        self._options = options
        place = os.environ.get("PYTEST_DEBUG_TEMPROOT", "/tmp")  # noqa: S108 - a socket's path is short
        self.folder = Path(tempfile.mkdtemp(prefix="continuity-postgres-", dir=place))
        self._user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
        self.port = free_port()
        if self._user:
            shutil.chown(self.folder, self._user)
        data = str(self.folder / "data")
        self._run("initdb", "-N", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder} -c max_connections=200 {self._options}"
        data, log = str(self.folder / "data"), str(self.folder / "log")
        self._run("pg_ctl", "start", "-w", "-D", data, "-l", log, "-o", options)

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "stop", "-w", "-m", mode, "-D", str(self.folder / "data"))

    def restart(self) -> None:
        """End it as a power cut would, and start it again."""
        self.stop()
        self.start()

    def remove(self) -> None:
        with suppress(NoServer):
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [self._bin / program, *words],
            user=self._user,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise NoServer(f"{program} failed: {done.stderr.decode(errors='replace').strip()[-300:]}")


def postgres_programs() -> Path:
    """Return the folder of PostgreSQL's own programs. Raises NoServer."""
    found = [Path(folder) for pattern in BINARIES for folder in sorted(Path("/").glob(pattern[1:]))]
    on_path = shutil.which("pg_ctl")
    found = [Path(on_path).parent, *found] if on_path else found
    with_initdb = [folder for folder in found if (folder / "initdb").exists()]
    if not with_initdb:
        raise NoServer(f"no PostgreSQL listens at {LISTENING} and none is installed (Debian: apt install postgresql)")
    return with_initdb[-1]


@contextmanager
def server():
    """Yield the address of a server: the one named in CONTINUITY_TEST_POSTGRES, one that listens, or one of our own."""
    named = os.environ.get(NAMED)
    if named or _answers(LISTENING):
        yield named or LISTENING
        return
    cluster = Cluster()
    try:
        yield cluster.url
    finally:
        cluster.remove()


def _answers(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.Error:
        return False
    return True


class Databases:
    """Gives every test a schema of its own in one database, which goes at the end.

    A schema that is given back is emptied and given out again: making tables costs the server a file each.
    """

    def __init__(self, url: str) -> None:
        import psycopg

        self._admin = psycopg.connect(url, autocommit=True)
        self.name = f"{PREFIX}{int(time.time())}_{secrets.token_hex(4)}"
        self._sweep()
        self._admin.execute(f"CREATE DATABASE {self.name} TEMPLATE template0 {LOCALE}")
        self.url = url.rpartition("/")[0] + f"/{self.name}"
        self._inside = psycopg.connect(self.url, autocommit=True, options="-c synchronous_commit=off")
        self._number = 0
        self._free: list[str] = []
        self._steps = [step for folder in MIGRATIONS for step in available(folder, "postgres")]

    @contextmanager
    def lent(self):
        """Yield the address of a schema with the empty tables of a bot."""
        from psycopg.errors import DeadlockDetected, LockNotAvailable

        schema = self._free.pop() if self._free else self._made()
        yield self._address(schema)
        with suppress(DeadlockDetected, LockNotAvailable):  # a bot's last transaction is under way: not given out again
            self._empty(schema)
            self._free.append(schema)

    def bare(self) -> str:
        """Return the address of a schema without tables."""
        self._number += 1
        self._inside.execute(f"CREATE SCHEMA t_{self._number}")
        return self._address(f"t_{self._number}")

    @contextmanager
    def another(self):
        """Yield the address of an empty database beside this one."""
        name = f"{self.name}_more"
        self._admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 {LOCALE}")
        yield self.url.replace(self.name, name)
        self._admin.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def _address(self, schema: str) -> str:
        return f"{self.url}?options=-csearch_path%3D{schema}"

    def _made(self) -> str:
        schema = self.bare().rpartition("%3D")[2]
        with self._inside.transaction():
            self._inside.execute(f"SET LOCAL search_path TO {schema}")
            rows = ", ".join(f"({step.number}, '{step.name}', 1)" for step in self._steps)
            scripts = "\n".join(step.script for step in self._steps)
            self._inside.execute(f"{LEDGER}\n{scripts}\nINSERT INTO schema_migrations VALUES {rows};".encode())
        self._tables = set(self._tables_of(schema))
        return schema

    def _tables_of(self, schema: str) -> list[str]:
        found = self._inside.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)).fetchall()
        return [name for (name,) in found]

    def _empty(self, schema: str) -> None:
        """Let go of every row and of further tables, all in one transaction that is sent at once."""
        newest = max(step.number for step in self._steps)
        there = self._tables_of(schema)
        emptied = [table for table in there if table in self._tables and table != "schema_migrations"]
        script = [
            f"SET LOCAL search_path TO {schema}",
            f"SET LOCAL lock_timeout = '{LOCK_WAIT_MS}ms'",
            *(f"DROP TABLE {table} CASCADE" for table in there if table not in self._tables),
            *(f"DELETE FROM {table}" for table in emptied),  # noqa: S608 - our own names, here and below
            f"DELETE FROM schema_migrations WHERE number > {newest}",  # noqa: S608
        ]
        self._inside.execute("; ".join(script).encode())

    def close(self) -> None:
        self._inside.close()
        self._admin.execute(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")
        self._admin.close()

    def _sweep(self) -> None:
        """Drop what tests left behind that were killed."""
        there = self._admin.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", (f"{PREFIX}%",))
        for (name,) in there.fetchall():
            made = name.removeprefix(PREFIX).partition("_")[0]
            if made.isdigit() and int(made) < time.time() - OLD_S:
                with suppress(Exception):
                    self._admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
