"""onechat's WhatsApp gateway."""
