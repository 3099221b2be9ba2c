"""The agents' tools, a file a family."""
