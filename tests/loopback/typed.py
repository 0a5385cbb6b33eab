"""`continuity-bot` as a shell finds it, done by a child of the process that has imported everything.

What stands on the path is a program of ten lines: it hands over its words, folder, environment and streams, and ends
as the command ended.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loopback.forked import Forked, cli

_PROGRAM = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as done:
    done.connect({address!r})
    asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(done, [b"!"], [0, 1, 2])
    done.sendall(asked)
    done.shutdown(socket.SHUT_WR)
    ended = done.recv(1)
sys.exit(ended[0] if ended else 137)
"""


@contextmanager
def program(folder: Path) -> Iterator[Path]:
    """Yield a folder with `continuity-bot` in it."""
    address = str(folder / "asked")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        server = Forked(_serve, listener, folder=folder, env={}, log_path=folder / "log")
    path = folder / "continuity-bot"
    path.write_text(_PROGRAM.format(python=sys.executable, address=address), encoding="utf-8")
    path.chmod(0o700)
    try:
        yield folder
    finally:
        server.send_signal(signal.SIGKILL)
        server.join()


def _serve(listener: socket.socket) -> None:
    while True:
        asked, _ = listener.accept()
        with asked:
            if os.fork() == 0:
                os._exit(_answer(asked))
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _answer(asked: socket.socket) -> int:
    _, streams, *_ = socket.recv_fds(asked, 1, 3)
    words, folder, env = json.loads(b"".join(iter(lambda: asked.recv(1 << 16), b"")))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    code: object = 1
    try:
        cli(*words)
    except SystemExit as exc:
        code = exc.code or 0
    except BaseException:  # noqa: BLE001 - it is shown, as the end of a program shows it
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    ended = code if isinstance(code, int) else 1
    asked.send(bytes([ended]))
    return ended
