"""Checks of voice: the models that listen and speak are there and answer; no sound is sent, nothing is paid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from bot.files.hearing.errors import NotHeard
from bot.files.hearing.sound_server import sound_server
from bot.ops.checks.check import Check
from bot.settings import Settings
from bot.settings.model_names import SoundModel, read_sound_model

PATIENCE_S: Final = 10.0
LISTENS: Final = "voice.listens"
SPEAKS: Final = "voice.speaks"
_NO_KEY: Final = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


@dataclass(frozen=True, slots=True)
class OnThisMachine:
    """A model on this machine, and its needs."""

    check: str
    setting: str
    model: str
    """The content that the folder must have, in words."""
    files: tuple[str, ...]
    library: str


HEARS_HERE: Final = OnThisMachine(
    LISTENS,
    "CONTINUITY_TRANSCRIBE",
    "a Whisper model in CTranslate2's format (model.bin, config.json, tokenizer.json)",
    ("model.bin",),
    "faster_whisper",
)
SPEAKS_HERE: Final = OnThisMachine(
    SPEAKS,
    "CONTINUITY_SPEECH",
    "a VITS voice in sherpa-onnx's form (one .onnx file and tokens.txt, with lexicon.txt where it needs one)",
    ("*.onnx", "tokens.txt"),
    "sherpa_onnx",
)


async def of_voice(settings: Settings) -> list[Check]:
    """Judge the models that listen and speak; no check where none is set. Asks a server for its list of models."""
    found: list[Check] = []
    listens, speaks = read_sound_model(settings.continuity_transcribe), read_sound_model(settings.continuity_speech)
    if listens is not None and listens.is_local:
        found.append(local(HEARS_HERE, Path(listens.name)))
    elif listens is not None:
        url, key = settings.continuity_transcribe_url, settings.continuity_transcribe_key
        found.append(await _of_server(LISTENS, "CONTINUITY_TRANSCRIBE", listens, url, key))
    if speaks is not None and speaks.is_local:
        found.append(local(SPEAKS_HERE, Path(speaks.name)))
    elif speaks is not None:
        url, key = settings.continuity_speech_url, settings.continuity_speech_key
        found.append(await _of_server(SPEAKS, "CONTINUITY_SPEECH", speaks, url, key))
    return found


def local(needs: OnThisMachine, folder: Path, find: Callable[[str], object] = find_spec) -> Check:
    """Judge a model on this machine: its folder, and the library that loads it, which is not imported."""
    does = _does(needs.check)
    if not folder.is_dir():
        do = f"name a folder with {needs.model}; nothing is fetched by itself"
        return Check(needs.check, "fail", f"{needs.setting}: there is no folder {folder}", do)
    if missing := [name for name in needs.files if len(list(folder.glob(name))) != 1]:
        return Check(needs.check, "fail", f"{needs.setting}: {folder} holds no {missing[0]}", f"it needs {needs.model}")
    if find(needs.library) is None:
        do = ".venv/bin/pip install --require-hashes -r requirements-voice.lock, or 'continuity-bot[voice]'"
        return Check(needs.check, "fail", f"the extra 'voice', which {does} on this machine, is not installed", do)
    return Check(needs.check, "ok", f"this machine {does} with the model in {folder}")


def _does(check: str) -> str:
    return "listens" if check == LISTENS else "speaks"


async def _of_server(name: str, setting: str, model: SoundModel, url: str | None, key: SecretStr | None) -> Check:
    server = sound_server(url, key, PATIENCE_S)
    if not (url or server.has_key):
        return Check(name, "fail", f"{setting} needs OPENAI_API_KEY or {setting}_URL", "set one of them")
    try:
        return judged(name, setting, model.name, server.address, await server.status("/models"))
    except NotHeard:
        do = f"start it, or check {setting}_URL, the network and HTTPS_PROXY"
        return Check(name, "fail", f"{setting}: {server.address} could not be reached", do)
    finally:
        await server.close()


def judged(name: str, setting: str, model: str, address: str, status: int) -> Check:
    """Judge the status of a server's list of models; not every server has one."""
    if status in _NO_KEY:
        return Check(name, "fail", f"{setting}: {address} refuses the key ({status})", f"check {setting}_KEY")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Check(name, "warn", f"{setting}: {address} answered {status}", "try again in a minute")
    return Check(
        name, "ok", f"{model} at {address} {_does(name)}; whether it knows that model, the first recording tells"
    )
