"""onechat's Telegram gateway."""
