"""The demo model: a local server with the Responses API that answers by rules."""
