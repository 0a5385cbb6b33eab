"""`POST /chat`: a message goes through the same inbox, lanes, turn and outbox as one from Telegram (000).

The key of a message is its identity in the inbox. After any crash the same key finds the same message: it is
answered once, and every further request gets the stored answer.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field

from bot.delivery.local import Growing, Screen
from bot.http.problems import Problem, body_of, of, responses
from bot.http.served import Served
from bot.intake.inbox import WAITS
from bot.intake.local import local_chat_id, local_update, request_digest
from bot.intake.updates import Envelope
from memory.errors import ContinuityError
from memory.ports import Row

MAX_MESSAGE_CHARS = 32_000
PATIENCE_S = 300.0
"""Time that one request waits for its answer; the same key asks on."""
LOOK_AGAIN_S = 5.0
"""A safety net below the events: how long a finished message can stay unseen."""
EVENTS = "text/event-stream"
NAMESPACE = uuid.UUID("5b7c6f0a-51f4-4a53-9a5e-1f5d0c1b9c52")
"""The namespace of session names that are made of a key."""

SessionName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$", description="Names a conversation; yours to choose."),
]


class ChatRequest(BaseModel):
    """One message; without `session_id` it begins a conversation of its own."""

    session_id: SessionName | None = None
    message: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARS, pattern=r"\S", description="What the person says.")
    name: str = Field("", max_length=64, description="How the assistant may call the person.")
    person: str = Field(
        "",
        max_length=128,
        description="Whose share of the places this takes, if your app speaks for several people; yours to choose.",
    )


class ChatAnswer(BaseModel):
    """The answer, or, with status `asks`, the preview of the context for the new conversation (001)."""

    session_id: str = Field(description="Send it with the next message.")
    status: Literal["answered", "asks"]
    turn_id: str
    reply: str = Field(description="What the assistant said; with `asks`, the preview.")
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


def chat_routes(bot: Served) -> APIRouter:
    """Return the route over one bot."""
    routes = APIRouter(tags=["chat"])

    @routes.post(
        "/chat",
        response_model=ChatAnswer,
        responses={
            200: {"content": {EVENTS: {"schema": {"type": "string"}}}},
            **responses(401, 409, 410, 413, 415, 422, 503, 504),
        },
    )
    async def chat(
        request: Request,
        said: ChatRequest,
        idempotency_key: Annotated[
            str | None,
            Header(
                pattern=r"^[\x21-\x7e]{1,200}$",
                description="The same key in the same session is the same message, answered once; "
                "with another body it is refused. Without a session it names one of its own.",
            ),
        ] = None,
    ) -> Response:
        """Say something and get the answer, whole or, when `text/event-stream` is accepted, as it grows."""
        key = idempotency_key or uuid.uuid4().hex
        session = said.session_id or f"s-{uuid.uuid5(NAMESPACE, key).hex if idempotency_key else uuid.uuid4().hex}"
        talk = _Talk(bot, session, key, said)
        if EVENTS in request.headers.get("accept", ""):
            return StreamingResponse(talk.events(), media_type=EVENTS, headers={"Cache-Control": "no-store"})
        return JSONResponse((await talk.answer()).model_dump())

    return routes


class _Talk:
    """One message on its way to its answer."""

    def __init__(self, bot: Served, session: str, key: str, said: ChatRequest) -> None:
        self._bot = bot
        self._session = session
        at_ms = bot.services.clock.now_ms()
        token = bot.settings.continuity_http_token
        caller = token.get_secret_value() if token else ""
        self._digest = request_digest(caller, session, said.model_dump_json())
        self._raw = local_update(session, key, said.message, said.name, at_ms, person=said.person, digest=self._digest)

    async def answer(self) -> ChatAnswer:
        """Write the message down and wait for its answer. Raises `Problem`, `StorageUnavailable`."""
        with self._bot.services.delivery.screens.watch(local_chat_id(self._session)) as screen:
            envelope = await self._begin()
            async for found in self._until_answered(envelope, screen):
                if isinstance(found, ChatAnswer):
                    return found
        raise AssertionError("the loop ends with an answer or a Problem")

    async def events(self) -> AsyncIterator[bytes]:
        """Give the answer as server-sent events: `growing` with the text so far, then `answer` or `problem`."""
        try:
            with self._bot.services.delivery.screens.watch(local_chat_id(self._session)) as screen:
                envelope = await self._begin()
                async for found in self._until_answered(envelope, screen):
                    if isinstance(found, ChatAnswer):
                        yield _event("answer", found.model_dump())
                    elif found is None:
                        yield b": still here\n\n"
                    else:
                        yield _event("growing", {"text": found.text})
        except (Problem, ContinuityError) as exc:
            problem = exc if isinstance(exc, Problem) else of(exc)
            yield _event("problem", body_of(problem.status, problem.detail))

    async def _begin(self) -> Envelope:
        """Write the message down; one that failed before is tried again, since it was asked for again."""
        envelope = await self._bot.take_local(self._raw)
        row = await self._row(envelope)
        if row["message_id"] not in (None, self._digest):  # None: from before there were digests
            raise Problem(HTTPStatus.CONFLICT, "this Idempotency-Key was used for another message")
        if row["state"] == "parked" and row["error"] != WAITS:
            await self._bot.reopen(row["turn_id"])
        return envelope

    async def _row(self, envelope: Envelope) -> Row:
        key = {"bot_id": envelope.bot_id, "update_id": envelope.update_id}
        row = await self._bot.services.db.read_one("inbox_one", **key)
        if row is None:
            raise Problem(HTTPStatus.GONE, "this message was answered long ago, or forgotten")
        return row

    async def _until_answered(self, envelope: Envelope, screen: Screen) -> AsyncIterator[ChatAnswer | Growing | None]:
        """Give the growing texts, None now and then, and last the answer. Raises `Problem` when there will be none."""
        loop = asyncio.get_running_loop()
        ends_at_s = loop.time() + PATIENCE_S
        while True:
            row = await self._row(envelope)
            found = await self._outcome(row)
            if found is not None:
                yield found
                return
            if loop.time() > ends_at_s:
                raise Problem(HTTPStatus.GATEWAY_TIMEOUT, "still being answered: send the same key again to wait on")
            try:
                async with asyncio.timeout(LOOK_AGAIN_S):
                    event = await screen.get()
            except TimeoutError:
                yield None
                continue
            while isinstance(event, Growing):
                if event.turn_id == (await self._row(envelope))["turn_id"]:
                    yield event
                event = await screen.get()

    async def _outcome(self, row: Row) -> ChatAnswer | None:
        """Return the answer when there is one by now. Raises `Problem` when there will be none."""
        state, turn_id = row["state"], row["turn_id"]
        if state in ("received", "claimed"):
            return None
        turn = await self._bot.services.memory.store.turn(turn_id) if state == "done" and turn_id else None
        if turn is not None:
            usage = await self._bot.services.db.read_one("turn_usage", turn_id=turn_id)
            return ChatAnswer(
                session_id=self._session,
                status="answered",
                turn_id=turn_id,
                reply=turn.assistant_text,
                **(usage or {}),
            )
        notice = await self._notice(turn_id)
        if state == "parked" and row["error"] == WAITS:
            return ChatAnswer(session_id=self._session, status="asks", turn_id=turn_id, reply=notice)
        if state == "done":
            raise Problem(HTTPStatus.GONE, notice or "the answer was stopped or forgotten")
        raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, notice or "this message could not be answered", retry_after_s=30)

    async def _notice(self, turn_id: str | None) -> str:
        """Return the sentence for the person about a turn without an answer."""
        rows = await self._bot.services.db.read("outbox_of_turn", turn_id=turn_id) if turn_id else []
        return "\n".join(row["text"] for row in rows)


def _event(name: str, data: object) -> bytes:
    return f"event: {name}\ndata: {orjson.dumps(data).decode()}\n\n".encode()
