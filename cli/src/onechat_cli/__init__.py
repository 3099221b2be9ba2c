"""The `onechat` command: the services on this machine, the terminal chat, status and usage."""
