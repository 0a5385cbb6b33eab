"""`continuity-bot chat`: the whole bot in a terminal or behind a pipe, without a token."""

from __future__ import annotations

import pytest
from loopback.forked import Forked, cli

pytestmark = pytest.mark.acceptance


@pytest.fixture
def chat(model, tmp_path):
    """Offer a function that pipes lines into the chat and returns exit code, output and errors."""

    async def run(lines, **env):
        env = {
            "CONTINUITY_MODEL": "openai-chat:loopback",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": "sk-loopback",
        } | env
        piped, out, err = (tmp_path / name for name in ("piped", "out", "err"))
        piped.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        out.unlink(missing_ok=True)
        chat = Forked(
            cli,
            *("chat", "--folder", str(tmp_path / "chat")),
            folder=tmp_path,
            env=env,
            log_path=out,
            error_path=err,
            input_path=piped,
        )
        code = await chat.wait()
        return code, out.read_text(encoding="utf-8").splitlines(), err.read_text(encoding="utf-8")

    return run


async def test_piped_lines_are_answered_and_the_next_start_remembers_them(chat, model):
    """Answers come in order, the program ends with 0, and a second start gives the model the earlier turns."""
    assert await chat(["hello", "", "and again"]) == (
        0,
        ["you hello", "bot You said: hello", "you and again", "bot You said: and again"],
        "",
    )

    code, lines, _ = await chat(["third"])
    assert (code, lines) == (0, ["you third", "bot You said: third"])
    assert [text for role, text in model.requests[-1].messages if role == "assistant"] == [
        "You said: hello",
        "You said: and again",
    ]


async def test_a_conversation_is_taken_up_by_the_number_of_its_button(chat):
    """`/continue` shows buttons, and a lone number presses one."""
    code, lines, _ = await chat(["hello", "/fresh", "/continue", "1"])

    assert code == 0
    assert any(line.strip().startswith("[1]") for line in lines)
    assert any(line.startswith("you pressed:") for line in lines)
    assert "back in" in "\n".join(lines[lines.index("you /continue") :])
