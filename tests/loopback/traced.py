"""A forked child under strace, which traces its work and nothing before."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from loopback.forked import Forked

ALLOW_TRACER, ANYBODY = 0x59616D61, ctypes.c_ulong(-1)
needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")


def traced(
    strace: tuple[str, ...], work: Callable[..., Any], *arguments: Any, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `work(*arguments)` in a child to its end under strace with these options; skips where it may not attach."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begin, printed, errors = folder / "begin", folder / "out", folder / "errors"
        os.mkfifo(begin)
        child = Forked(
            _held, str(begin), work, *arguments, folder=Path.cwd(), env=env, log_path=printed, error_path=errors
        )
        with begin.open("w"):
            command = ["strace", "-f", *strace, "-p", str(child.pid)]
            tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            said = tracer.stderr.readline()
        _, more = tracer.communicate()
        code = child.join()
        if "ptrace" in said + more:
            pytest.skip("this machine does not let strace attach")
        assert "attached" in said, said + more
        return subprocess.CompletedProcess(command, code, printed.read_text(), errors.read_text())


def _held(begin: str, work: Callable[..., Any], *arguments: Any) -> None:
    ctypes.CDLL(None).prctl(ALLOW_TRACER, ANYBODY, 0, 0, 0)  # where only a parent may attach by itself
    Path(begin).read_bytes()
    work(*arguments)
