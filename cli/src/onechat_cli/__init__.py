"""The onechat command."""
