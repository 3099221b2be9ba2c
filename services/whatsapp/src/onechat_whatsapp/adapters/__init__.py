"""What the gateway's rooms reach the outside by: its store, the agent, the contract."""
