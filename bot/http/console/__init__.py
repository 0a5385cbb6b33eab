"""The operator's console in the browser: pages made on the server, no build step."""
