"""The five services on this machine, as children of one process."""
