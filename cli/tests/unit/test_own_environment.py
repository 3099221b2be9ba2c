"""What `up` tells each service: its own secrets, and the agent which files hold the others'."""

from onechat_cli.up.service import own_environment

TOLD = {
    "OPENAI_API_KEY": "key",
    "TELEGRAM_TOKEN": "token",
    "OPENAI_API_KEY_FILE": "/key",
    "TELEGRAM_TOKEN_FILE": "/token",
    "ONECHAT_TOKEN_FILE": "/operator",
}


def secrets_of(service: str) -> set[str]:
    return own_environment(service, TOLD, {}).keys() & TOLD.keys()


def test_a_service_gets_its_own_secrets_alone():
    assert secrets_of("telegram") == {"TELEGRAM_TOKEN", "TELEGRAM_TOKEN_FILE"}
    assert secrets_of("memory") == set()


def test_the_agent_is_told_which_files_hold_secrets_since_it_keeps_its_tools_from_them():
    assert secrets_of("agent") == {"OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "TELEGRAM_TOKEN_FILE"}
