"""Numbered migrations of the agent's store, forward only."""
