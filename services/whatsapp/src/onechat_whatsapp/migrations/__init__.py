"""The store's schema, numbered, forward only."""
