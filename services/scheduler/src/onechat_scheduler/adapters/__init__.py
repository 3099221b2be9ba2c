"""The store's rows, the agent service, the machine's timer."""
