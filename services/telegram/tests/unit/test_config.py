"""The settings of the telegram service."""

import pytest
from onechat_runtime.settings import SettingsFaulty, load
from onechat_telegram.config import TELEGRAM, TelegramSettings


def test_nothing_has_to_be_set() -> None:
    settings = load(TelegramSettings, {})

    assert settings.bot_token is None
    assert settings.owner is None
    assert settings.base_url == TELEGRAM
    assert settings.drafts is False
    assert settings.address == "127.0.0.1:50054"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8081", "http://127.0.0.1:8081/", "http://127.0.0.1:8081/bot"]
)
def test_a_base_url_is_taken_in_each_of_its_usual_forms(url: str) -> None:
    assert load(TelegramSettings, {"TELEGRAM_BASE_URL": url}).base_url == "http://127.0.0.1:8081"


def test_all_faults_are_told_at_once_and_say_what_to_write() -> None:
    with pytest.raises(SettingsFaulty) as faulty:
        load(TelegramSettings, {"TELEGRAM_OWNER_ID": "@ada", "TELEGRAM_BASE_URL": "telegram"})

    assert len(faulty.value.faults) == 2
    assert "@userinfobot" in str(faulty.value)


def test_drafts_are_turned_on_by_a_one() -> None:
    assert load(TelegramSettings, {"TELEGRAM_DRAFTS": "1"}).drafts is True


def test_the_token_is_not_shown() -> None:
    settings = load(TelegramSettings, {"TELEGRAM_TOKEN": "1:secret"})

    assert "secret" not in repr(settings)
