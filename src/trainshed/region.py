"""The AWS region of the environment, found where the CDK CLI looks for it."""

from collections.abc import Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from pathlib import Path

# What to do when there is none; after the words that say so.
REGION_ADVICE = "set AWS_REGION, or the region of your AWS profile"

# The CDK CLI's own order. Its last resort, the metadata of the instance it runs on, is left out.
_VARIABLES = ("AWS_REGION", "AMAZON_REGION", "AWS_DEFAULT_REGION", "AMAZON_DEFAULT_REGION")
_CLI_FALLBACK = "us-east-1"


def environment_region(environment: Mapping[str, str]) -> str | None:
    """Return the region of the variables, or else of the AWS profile; None without any."""
    if named := next(filter(None, map(environment.get, _VARIABLES)), None):
        return named
    profiles = _profile_regions(environment)
    wanted = environment.get("AWS_PROFILE") or environment.get("AWS_DEFAULT_PROFILE") or "default"
    return profiles.get(wanted) or profiles.get("default")


def app_region(environment: Mapping[str, str]) -> str | None:
    """Return the region of a CDK app's environment, or None when none is named.

    The CDK CLI gives the app us-east-1 when it found no region. That is taken only when a variable
    or a profile, which may be that of `cdk --profile`, names it.
    """
    given = environment.get("CDK_DEFAULT_REGION")
    found = environment_region(environment)
    if given != _CLI_FALLBACK or "CDK_CLI_VERSION" not in environment:
        return given or found
    return given if given == found or given in _profile_regions(environment).values() else None


def _profile_regions(environment: Mapping[str, str]) -> dict[str, str]:
    """Read the region of each profile; a file that cannot be read has none."""
    folder = Path(environment.get("HOME", "/")) / ".aws"
    files = ConfigParser(interpolation=None, strict=False)
    try:
        files.read(
            (
                environment.get("AWS_SHARED_CREDENTIALS_FILE") or folder / "credentials",
                environment.get("AWS_CONFIG_FILE") or folder / "config",
            ),
            encoding="utf-8",
        )
    except (ConfigError, UnicodeDecodeError):
        return {}
    return {
        section.removeprefix("profile ").strip(): region
        for section in files.sections()
        if (region := files[section].get("region"))
    }
