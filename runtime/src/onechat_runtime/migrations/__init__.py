"""The runtime's own tables, numbered; how they are applied: store_schema.py."""
