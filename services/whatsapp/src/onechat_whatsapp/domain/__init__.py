"""The gateway's rules: no clock, no chance, no input or output."""
