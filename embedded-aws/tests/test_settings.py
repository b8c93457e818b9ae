"""Which embedded AWS can be asked for."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.guests.guest_settings import GuestSettings
from embedded_aws.settings import ServerSettings, access_key, account_of, parse_as_of


def test_the_default_is_one_account_in_one_region_today() -> None:
    settings = ServerSettings()

    assert settings.accounts == ("123456789012",)
    assert settings.regions == ("us-west-2",)
    assert settings.as_of is None


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        pytest.param({"accounts": ("12345",)}, "account '12345' is not", id="short-account"),
        pytest.param({"accounts": ("\N{ARABIC-INDIC DIGIT ONE}" * 12,)}, "12 digits", id="digits"),
        pytest.param({"regions": ("us-wst-2",)}, "did you mean us-west-2", id="unknown-region"),
        pytest.param(
            {"regions": ("us-west-2",) * 2}, "give at least one region, and none twice", id="twice"
        ),
        pytest.param({"accounts": ()}, "at least one", id="no-account"),
        pytest.param({"as_of": date(2999, 1, 1)}, "2999-01-01 is in the future", id="future"),
        pytest.param({"port": 80}, "port 80 cannot be used", id="privileged-port"),
        pytest.param({"port": 70000}, "port 70000 cannot be used", id="port-too-high"),
    ],
)
def test_an_impossible_choice_is_refused_in_words(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(EmbeddedAwsError, match=message):
        ServerSettings(**choices)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(ServerSettings(), id="default"),
        pytest.param(
            ServerSettings(
                accounts=("111111111111", "222222222222"),
                regions=("us-west-2", "eu-west-1"),
                as_of=date(2026, 6, 1),
                port=4566,
                registry="127.0.0.1:5000",
                machines=GuestSettings(roots=Path("/roots"), hosts=Path("/hosts")),
            ),
            id="all",
        ),
    ],
)
def test_what_was_written_is_read_again(settings: ServerSettings) -> None:
    assert ServerSettings.from_json(settings.to_json()) == settings


@pytest.mark.parametrize(
    ("text", "day"),
    [
        pytest.param("2026-06", date(2026, 6, 1), id="month"),
        pytest.param("2026-06-15", date(2026, 6, 15), id="day"),
    ],
)
def test_as_of_reads_months_and_days(text: str, day: date) -> None:
    assert parse_as_of(text) == day


@pytest.mark.parametrize("text", ["June", "2026-13", "2026", "", "2026-W10", "20260615"])
def test_as_of_refuses_what_is_not_a_month(text: str) -> None:
    with pytest.raises(EmbeddedAwsError, match="write it as YYYY-MM"):
        parse_as_of(text)


def test_an_access_key_shows_its_account() -> None:
    assert account_of(access_key("210987654321")) == "210987654321"
    assert account_of("AKIAIOSFODNN7EXAMPLE") is None
