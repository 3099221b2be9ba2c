"""The store's schema, a numbered file a step, forward only. Instants are microseconds since 1970, UTC."""
