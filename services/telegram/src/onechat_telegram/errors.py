"""What the telegram service refuses with, beside the refusals of every service."""

from onechat_runtime.errors import NotServedYet


def groups_not_served() -> NotServedYet:
    """For every call on groups."""
    return NotServedYet("Groups are not served yet: write to the bot in its private chat.")
