"""A model endpoint whose requests are put into a folder, and whose answers are read from it."""

from __future__ import annotations

import asyncio
import base64
import json
from itertools import count
from pathlib import Path
from typing import Any

from aiohttp import web

LOOK_EVERY_S = 0.2


class FolderModel:
    """OpenAI chat completions: `NNN.request.txt` appears, `NNN.answer.json` or `NNN.answer.txt` is waited for.

    An answer is `{"text": …, "tool_calls": [{"name": …, "arguments": {…}}]}`, or plain text.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._numbers = count(1 + len(list(folder.glob("*.request.txt"))))
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def stop(self) -> None:
        """Close the port."""
        if self._runner:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        number = f"{next(self._numbers):03d}"
        (self._folder / f"{number}.request.json").write_text(json.dumps(body, ensure_ascii=False, indent=1))
        pictures = [self._picture(number, n, url) for n, url in enumerate(shown(body))]
        (self._folder / f"{number}.request.txt").write_text(readable(body) + "\n".join(pictures))
        try:
            answer = await self._written(number)
        except asyncio.CancelledError:
            (self._folder / f"{number}.gone").write_text("whoever asked does not wait any more")
            raise
        message = as_message(answer, number)
        usage = {"prompt_tokens": len(json.dumps(body)) // 4, "completion_tokens": len(json.dumps(message)) // 4}
        if not body.get("stream"):
            reason = "tool_calls" if "tool_calls" in message else "stop"
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return web.json_response({"id": number, "object": "chat.completion", "choices": [choice], "usage": usage})
        return await _streamed(request, message, usage)

    def _picture(self, number: str, n: int, url: str) -> str:
        """Keep a picture of a request beside it, and say where it is."""
        head, _, data = url.partition(",")
        path = self._folder / f"{number}.{n}.{'png' if 'png' in head else 'jpg'}"
        path.write_bytes(base64.b64decode(data))
        return f"PICTURE of this request: {path.absolute()}"

    async def _written(self, number: str) -> dict[str, Any]:
        structured, plain = self._folder / f"{number}.answer.json", self._folder / f"{number}.answer.txt"
        while True:
            if structured.exists():
                return dict(json.loads(structured.read_text()))
            if plain.exists():
                return {"text": plain.read_text().strip()}
            await asyncio.sleep(LOOK_EVERY_S)


async def _streamed(request: web.Request, message: dict[str, Any], usage: dict[str, int]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    calls = [{"index": n, **call} for n, call in enumerate(message.get("tool_calls", ()))]
    deltas = [{"content": word + " "} for word in (message["content"] or "").split(" ") if word]
    deltas += [{"tool_calls": calls}] if calls else []
    for delta in deltas:
        await _piece(response, {"choices": [{"index": 0, "delta": delta}]})
    reason = "tool_calls" if calls else "stop"
    await _piece(response, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    await _piece(response, {"choices": [], "usage": usage})
    await response.write(b"data: [DONE]\n\n")
    return response


async def _piece(response: web.StreamResponse, piece: dict[str, Any]) -> None:
    await response.write(f"data: {json.dumps(piece)}\n\n".encode())


def as_message(answer: dict[str, Any], number: str) -> dict[str, Any]:
    """The assistant's message that an answer stands for."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.get("text") or ""}
    calls = [
        {
            "id": f"call_{number}_{n}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call.get("arguments", {}))},
        }
        for n, call in enumerate(answer.get("tool_calls") or ())
    ]
    return message | ({"tool_calls": calls} if calls else {})


def readable(body: dict[str, Any]) -> str:
    """A request as somebody reads it who answers as the model: tools by name, then every message."""
    tools = [each["function"] for each in body.get("tools", ())]
    parts = [
        f"TOOL {each['name']}: {each.get('description', '')}\n  {json.dumps(each['parameters'])}" for each in tools
    ]
    for message in body["messages"]:
        calls = "".join(
            f"\n-> {call['function']['name']} {call['function']['arguments']}" for call in message.get("tool_calls", ())
        )
        parts.append(f"=== {message['role']}\n{_text(message.get('content'))}{calls}")
    return "\n\n".join(parts) + "\n"


def shown(body: dict[str, Any]) -> list[str]:
    """The addresses of the pictures that a request holds, which carry their bytes."""
    parts = [part for message in body["messages"] for part in message.get("content") or () if isinstance(part, dict)]
    return [part["image_url"]["url"] for part in parts if part.get("type") == "image_url"]


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "[a picture]")) for part in content)
    return str(content or "")
