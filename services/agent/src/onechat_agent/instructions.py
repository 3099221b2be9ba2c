"""What prompts show of instructions.md: the user's wishes, read anew at each call, as a tool would read them.

An agent's shell, which the kernel keeps out of secret files, can put a link or a pipe in the place of its
instructions.md. The service reads that for it and sends it to the endpoint, so the same fence holds here.
Where the file lies: adapters/agent_folder.py. Sizes are bytes.
"""

import os
from typing import Final

from onechat_agent.adapters.agent_folder import AgentFolder
from onechat_agent.prompts import sections
from onechat_agent.tools.fence import Fence
from onechat_agent.tools.file_access import FileRefused, locate, read_text

INSTRUCTIONS_MAX: Final = 200_000  #: every call sends them whole


def instructions_text(folder: AgentFolder, fence: Fence, unread: str = sections.INSTRUCTIONS_UNREAD) -> str:
    """What the user wrote, trimmed; empty without a file.

    Where it cannot be read, `unread` stands in its place: it says `{why}`, so that the agent tells the user.
    """
    file = folder.instructions.absolute()
    try:
        return read_text(locate(str(file), file.parent, fence), fence, INSTRUCTIONS_MAX).strip()
    except FileRefused as why:
        if not os.path.lexists(file):
            return ""
        return unread.format(why=why)
