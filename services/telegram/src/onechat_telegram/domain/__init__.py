"""What the gateway decides. Pure: the standard library only, no clock, no chance, no I/O."""
