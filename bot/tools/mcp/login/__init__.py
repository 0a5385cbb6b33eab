"""Logins at MCP servers over HTTP: OAuth 2.1 by an address that the person sends back, one account per person."""
