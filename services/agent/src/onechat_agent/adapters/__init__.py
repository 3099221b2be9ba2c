"""One outside thing per file: the store, the agents' folder, another service."""
