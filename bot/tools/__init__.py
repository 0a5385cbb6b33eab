"""Tools beyond the notes: their shape, who is offered which, and how a call is made once.

How a tool is added:

1. Make a `Tool` (`bot.tools.tool`): name, description, JSON schema of its arguments, `run`. Say `reads_only` when it
   changes nothing anywhere, `idempotent` when a second call with the same `CallContext.call_id` changes nothing more.
2. Offer it: a `Source` is an async function from a `Place` (person and chat) to its tools there; `joining/` hands
   the sources to the `Shelf`. The list of a source for one place changes rarely and keeps its order: a provider caches
   it as the beginning of the prompt.
3. Nothing else. Arguments are checked against the schema's names and types before `run`; the call is a row of
   `tool_calls` before and after it; a tool that is not `reads_only`, or not `trusted`, is asked about in the chat; its
   result is fenced, cut and kept whole for `read_result`.

`run` returns a `ToolResult`, raises `NotDone` (surely nothing happened), or lets any other
exception out (nobody knows: a tool that changes something is then asked about, and not tried again).
"""

from bot.tools.own import tool
from bot.tools.tool import CallContext, NotDone, ToolResult

__all__ = ["CallContext", "NotDone", "ToolResult", "tool"]
