"""The child process that holds the session: the only place that loads neonize. Started by
wire/supervisor.py."""
