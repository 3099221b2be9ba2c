"""One outside thing per file: the store, the Bot API, the agent service, the Markdown renderer."""
