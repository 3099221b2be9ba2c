"""onechat's scheduler."""
