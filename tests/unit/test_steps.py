"""The names of the work under way, in a file, on a disk that has no room."""

from __future__ import annotations

import errno
import os

import pytest

from bot.process.steps import LENGTH, WIDTH, Steps

PAGE = 4096


@pytest.fixture
def opened():
    """Opens the steps of a file, and closes them behind the test."""
    found = list[Steps]()

    def open_at(path):
        steps = Steps(path)
        found.append(steps)
        steps.open()
        steps.put(b"t_2".ljust(WIDTH, b"\0"))
        return steps

    yield open_at
    for each in found:
        each.close()


def test_a_short_write_costs_the_names_and_not_the_start(tmp_path, monkeypatch, opened):
    """Neither the first start with a full disk fails nor the next, whose file has its length but not its pages."""
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: write(file, data[:PAGE], at))
    first = opened(tmp_path / "steps")
    first.close()
    second = opened(tmp_path / "steps")

    assert first.hung == second.hung == ()
    assert b"t_2" not in (tmp_path / "steps").read_bytes()


def test_whose_work_hung_is_known_without_room_on_the_disk(tmp_path, monkeypatch, opened):
    """The process before left its names and a trace: they're read before anything is written."""
    (tmp_path / "steps").write_bytes(b"t_1 7".ljust(LENGTH, b"\0") + b"Thread 0x1")

    def full(*_):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "pwrite", full)

    assert opened(tmp_path / "steps").hung == ("t_1 7",)
