"""`.env.example` is the settings class written down: names, defaults and descriptions agree."""

import re
from pathlib import Path

from pydantic import SecretStr

from bot.ops.checks.setup import PROVIDER_KEYS
from bot.settings import Settings

EXAMPLE = Path(__file__).parents[2] / ".env.example"
LINE = re.compile(r"# ([A-Z][A-Z0-9_]*)=(.*)")


def read_example():
    """Return name → (description, value) of every line that could be taken in use."""
    found, before = {}, ""
    for line in EXAMPLE.read_text(encoding="utf-8").splitlines():
        match = LINE.fullmatch(line)
        if match:
            assert match[1] not in found, f"{match[1]} stands there twice"
            found[match[1]] = (before, match[2])
        before = line.removeprefix("# ")
    return found


def shown(default):
    """Return a default as it is written in a file of variables."""
    if default is None:
        return ""
    assert not isinstance(default, SecretStr)
    return str(default).lower() if isinstance(default, bool) else str(default)


def test_every_setting_is_there_with_its_default_and_description():
    """Nothing is missing, nothing is left over, and each says what the class says."""
    example = read_example()
    keys = {name for names in PROVIDER_KEYS.values() for name in names}
    fields = {name.upper(): field for name, field in Settings.model_fields.items()}

    assert {name: example.get(name) for name in fields} == {
        name: (field.description, shown(field.default)) for name, field in fields.items()
    }
    assert keys - {"GEMINI_API_KEY"} == set(example) - set(fields)


def test_the_example_taken_as_it_is_changes_nothing(tmp_path, monkeypatch):
    """With every # taken out, the settings are the defaults: empty values count as not set."""
    for name in read_example():
        monkeypatch.delenv(name, raising=False)
    taken = tmp_path / ".env"
    taken.write_text("\n".join(f"{name}={value}" for name, (_, value) in read_example().items()))

    assert Settings(_env_file=taken).model_dump() == Settings(_env_file=None).model_dump()
