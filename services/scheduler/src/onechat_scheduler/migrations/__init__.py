"""The scheduler's store, step by step."""
