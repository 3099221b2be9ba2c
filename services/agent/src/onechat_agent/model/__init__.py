"""The model client: what a call holds, how an endpoint is spoken to, and what can go wrong."""
