"""onechat's agent service: agents, turns, the queue, the model."""
