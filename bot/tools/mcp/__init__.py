"""Tools of MCP servers: started when they are needed, watched, ended when nobody uses them, and believed nothing."""
