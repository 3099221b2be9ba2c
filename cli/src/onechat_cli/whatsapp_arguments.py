"""The command line of `onechat whatsapp`: its parts with their flags and examples.

What they do: commands/whatsapp.py. Linking and its end are commands of the chat.
"""

from onechat_cli.subcommands import Commands, add_command, add_json, add_parts


def add_whatsapp(commands: Commands) -> None:
    """Add `whatsapp` to `commands`; the chosen part is in `part`."""
    whatsapp = add_command(
        commands,
        "whatsapp",
        does="the link to WhatsApp",
        description=(
            "The link to WhatsApp. It is made and ended in the chat: /whatsapp pair PHONE links an account,\n"
            "/whatsapp unlink ends the link."
        ),
        examples="  onechat whatsapp status\n",
    )
    parts = add_parts(whatsapp, required=True)
    status = add_command(
        parts,
        "status",
        does="how the link is, and which chats are routed",
        description=(
            "How the link is and since when, when something last came, what waits, and which chats go to\n"
            "which child. Exit code 1 when the link is lost."
        ),
        examples="  onechat whatsapp status\n  onechat whatsapp status --json | jq -r .state\n",
    )
    add_json(status)
