"""The outside things of the memory service: its store, and its contract."""
