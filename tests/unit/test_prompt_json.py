"""A message of a kept prompt as JSON: the bytes on which digests that are stored already rest."""

from dataclasses import fields

import orjson

from bot.answers.prompts import as_json
from memory.context.transcript import PromptMessage
from memory.types import ToolCall


def test_every_field_stands_there_in_its_order():
    """A field that is left out, or another order, would make every prompt that was kept before look altered."""
    call = ToolCall(call_id="c_1", name="remember", arguments='{"text": "Rex"}', result="Noted.")

    written = orjson.dumps(as_json(PromptMessage("assistant", "", (call,)))).decode()

    assert list(orjson.loads(written)) == [each.name for each in fields(PromptMessage)]
    assert written == (
        '{"role":"assistant","text":"","tool_calls":[{"call_id":"c_1","name":"remember",'
        '"arguments":"{\\"text\\": \\"Rex\\"}","result":"Noted."}]}'
    )
