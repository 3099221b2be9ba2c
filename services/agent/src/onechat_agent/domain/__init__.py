"""The pure core of the agent service: standard library only, no clock, no chance, no I/O."""
