"""The region of the environment: the CDK app's and the command line's are the same."""

from pathlib import Path

import pytest

from trainshed.region import app_region, environment_region

CONFIG = """
[default]
output = json
[profile lab]
region = eu-west-1
[profile us]
region = us-east-1
"""
DEFAULT = "[default]\nregion = eu-north-1\n"


@pytest.mark.parametrize(
    ("config", "variables", "region"),
    [
        pytest.param("", {}, None, id="nothing"),
        pytest.param("", {"AWS_REGION": "a", "AWS_DEFAULT_REGION": "b"}, "a", id="variables"),
        pytest.param("", {"AWS_DEFAULT_REGION": "b"}, "b", id="the default's variable"),
        pytest.param(DEFAULT, {}, "eu-north-1", id="default profile"),
        pytest.param(DEFAULT, {"AWS_REGION": "a"}, "a", id="variable before profile"),
        pytest.param(CONFIG, {}, None, id="default profile without a region"),
        pytest.param(CONFIG, {"AWS_PROFILE": "lab"}, "eu-west-1", id="profile"),
        pytest.param(CONFIG + "[", {"AWS_PROFILE": "lab"}, None, id="broken file"),
    ],
)
def test_it_is_that_of_the_variables_or_of_the_profile(
    tmp_path: Path, config: str, variables: dict[str, str], region: str | None
) -> None:
    (tmp_path / "config").write_text(config, encoding="utf-8")
    environment = {"AWS_CONFIG_FILE": str(tmp_path / "config"), "HOME": str(tmp_path)}

    assert environment_region(environment | variables) == region
    assert app_region(environment | variables) == region


@pytest.mark.parametrize(
    ("config", "chosen", "region"),
    [
        pytest.param("", "us-east-1", None, id="the CLI's last resort"),
        pytest.param(DEFAULT, "us-east-1", None, id="another profile's"),
        pytest.param(CONFIG, "us-east-1", "us-east-1", id="some profile's"),
        pytest.param("", "eu-west-1", "eu-west-1", id="no last resort"),
    ],
)
def test_an_app_does_not_take_the_last_resort_of_the_cdk_cli_for_a_choice(
    tmp_path: Path, config: str, chosen: str, region: str | None
) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/config").write_text(config, encoding="utf-8")
    environment = {
        "HOME": str(tmp_path),
        "CDK_DEFAULT_REGION": chosen,
        "CDK_CLI_VERSION": "2.1000.0",
    }

    assert app_region(environment) == region


def test_us_east_1_is_taken_when_a_variable_names_it() -> None:
    environment = {
        "HOME": "/nowhere",
        "AWS_REGION": "us-east-1",
        "CDK_DEFAULT_REGION": "us-east-1",
        "CDK_CLI_VERSION": "2.1000.0",
    }

    assert app_region(environment) == "us-east-1"
    assert app_region({"HOME": "/nowhere", "CDK_DEFAULT_REGION": "us-east-1"}) == "us-east-1"
