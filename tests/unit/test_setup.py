"""What a set-up installs, in what order, and what it says meanwhile."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = {"pytest", "mypy", "ruff", "hypothesis", "aiogram", "import-linter", "rouge-score"}


def pins(lock):
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE))


@pytest.fixture
def install():
    """Return the set-up script as a module."""
    spec = importlib.util.spec_from_file_location("install", ROOT / ".ci" / "install.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def venv(tmp_path):
    """Offer a .venv whose python prints these lines for pip and ends with this code; what it was asked is written."""

    def make(lines=(), code=0):
        folder = tmp_path / "venv"
        (folder / "bin").mkdir(parents=True)
        python = folder / "bin" / "python"
        said = "".join(f"echo '{line}'\n" for line in lines)
        python.write_text(
            f'#!/bin/sh\necho "$@" >> {folder}/asked\ncase "$*" in *--version*) exit 0;; esac\n{said}exit {code}\n',
            encoding="utf-8",
        )
        python.chmod(0o700)
        return folder

    return make


@pytest.fixture
def lock(tmp_path):
    """Return a lock of three packages."""
    path = tmp_path / "some.lock"
    path.write_text("one==1 \\\n  --hash=x\ntwo==2\nthree==3\n", encoding="utf-8")
    return path


def test_running_needs_no_test_tools():
    """The lock that `make run` installs holds none of them; the tools' lock holds everything, in the same versions."""
    running, tools = pins("requirements.lock"), pins("requirements-dev.lock")

    assert TOOLS.isdisjoint(running)
    assert set(tools) >= TOOLS
    assert running.items() <= tools.items()


def test_make_run_installs_only_what_running_needs(tmp_path):
    """In a checkout without .venv, `make run` and `make install` never touch the tools; `make test` adds them."""
    plan = {
        target: subprocess.run(
            ["make", "-n", f"VENV={tmp_path / 'none'}", target], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        for target in ("run", "install", "test")
    }

    assert "requirements.lock" in plan["run"]
    assert "requirements-dev.lock" not in plan["run"] + plan["install"]
    assert plan["test"].index("requirements.lock") < plan["test"].index("requirements-dev.lock")


def test_a_set_up_says_what_it_does_and_how_far_it_is(install, venv, lock, capsys):
    """A line before, progress meanwhile, where the program is afterwards; packages are checked against their hashes."""
    folder = venv(["Collecting one", "Processing /wheels/two-2.whl", *["Ignoring x"] * 8, "Installing collected"])

    assert install.main(folder, lock, with_project=True) is None

    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"Setting up {folder} with 3 packages from some.lock.")
    assert out[-1] == f"Done. {folder}/bin/continuity-bot is ready."
    assert "  putting them in place …" in out
    asked = (folder / "asked").read_text(encoding="utf-8").splitlines()
    assert "--require-hashes" in asked[1]
    assert asked[2].endswith("-e .")


def test_a_set_up_that_fails_shows_why_and_is_repeated(install, venv, lock, capsys):
    """The last lines of pip are shown, and the sentence says what to do; make leaves no stamp behind."""
    why = install.main(venv(["Collecting one", "ERROR: No space left on device"], code=1), lock, with_project=True)

    assert why == "The set-up stopped there. Run the same command again: it goes on with what is missing."
    assert "No space left on device" in capsys.readouterr().out


def test_a_half_made_environment_is_made_again(install, venv, lock, monkeypatch):
    """A .venv without a working pip, as an interrupted set-up leaves it, is made again."""
    folder = venv()
    (folder / "bin" / "python").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    made = []
    monkeypatch.setattr(install.venv, "create", lambda *where, **how: made.append((where, how)))

    install.main(folder, lock, with_project=False)

    assert made == [((folder,), {"with_pip": True, "clear": True})]
