"""An MCP server by the official SDK, for tests: `python mcp_server.py <effects url> <kind> [http port]`."""

from __future__ import annotations

import os
import sys
import time
from urllib.request import Request, urlopen

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

EFFECTS, KIND, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0
READS = ToolAnnotations(readOnlyHint=True)

server = MCPServer(KIND)


def ask(path):
    request = Request(EFFECTS + path, method="POST")  # noqa: S310 - the test's own service
    with urlopen(request, timeout=20) as answer:  # noqa: S310
        return answer.read().decode()


@server.tool(annotations=READS)
def look(path: str) -> str:
    """Read a file."""
    ask("/look")
    return f"contents of {path}; variables: {' '.join(sorted(os.environ))}"


@server.tool(annotations=READS)
def long(lines: int) -> str:
    """Return many lines."""
    return "\n".join(f"line {number} of the long result" for number in range(lines))


@server.tool()
def write(path: str, text: str = "") -> str:
    """Write a file."""
    ask("/write")
    return f"written {path}"


@server.tool()
def hang() -> str:
    """Never answer."""
    ask("/hang")
    time.sleep(600)
    return ""


@server.tool()
def die() -> str:
    """Die in the midst of it."""
    ask("/die")
    os._exit(3)


if PORT:
    server.run("streamable-http", host="127.0.0.1", port=PORT)
else:
    server.run()
