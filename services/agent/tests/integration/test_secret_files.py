"""Files that hold secrets are closed to tools, whoever's they are and wherever a variable names them."""

import json
import os
import subprocess
import sys
from pathlib import Path

LOOK = """
import json, sys
from pathlib import Path
from onechat_agent.config import AgentSettings
from onechat_agent.fences import fence
from onechat_runtime.settings import load

closed = fence(load(AgentSettings, {}))
print(json.dumps({name: closed.refuses(Path(name).resolve()) for name in sys.argv[1:]}))
"""


def test_files_that_env_or_the_environment_name_as_secrets_are_closed_to_tools(tmp_path: Path) -> None:
    """What stands in .env is in no environment, and the bot's token is another service's."""
    (tmp_path / ".env").write_text("OPENAI_API_KEY_FILE=key\nTELEGRAM_TOKEN_FILE=bot\nONECHAT_NAME=One\n")
    environ = {**os.environ, "ONECHAT_TOKEN_FILE": str(tmp_path / "token")}

    found = subprocess.run(
        [sys.executable, "-c", LOOK, "key", "bot", "token", ".env", "notes"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        check=True,
        timeout=60,
    )

    refused = json.loads(found.stdout)
    assert refused == {"key": True, "bot": True, "token": True, ".env": True, "notes": False}
