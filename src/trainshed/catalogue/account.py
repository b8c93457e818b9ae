"""The live account that `trainshed catalogue sync` asks; it reads, and never writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    NoCredentialsError,
)

from trainshed.errors import TrainshedError, one_line

_CONFIG = Config(connect_timeout=10, read_timeout=60, retries={"mode": "standard"})
# Any region answers DescribeRegions; this one is enabled in every account.
_HOME = "us-east-1"


class AccountError(TrainshedError):
    """The account did not answer: no network, no permission, a region that is not enabled."""

    exit_code = 1


def ec2_client(region: str) -> Any:
    """Return a boto3 EC2 client of a region, with the environment's credentials."""
    return boto3.client("ec2", region_name=region, config=_CONFIG)


def enabled_regions() -> tuple[str, ...]:
    """Return the regions that are enabled in the account, sorted; needs ec2:DescribeRegions."""
    answer = ec2_client(_HOME).describe_regions()
    return tuple(sorted(region["RegionName"] for region in answer["Regions"]))


@contextmanager
def asking() -> Iterator[None]:
    """Turn what boto3 raises into words.

    Raises:
        TrainshedError: there are no credentials, or they are not to be used as they are.
        AccountError: AWS refuses, or cannot be reached.
    """
    try:
        yield
    except NoCredentialsError as error:
        raise TrainshedError(
            "no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        ) from error
    except ClientError as error:
        raise AccountError(f"AWS refuses {_refusal(error)}") from error
    except (HTTPClientError, ConnectionError) as error:
        raise AccountError(f"AWS cannot be reached: {one_line(str(error))}") from error
    except BotoCoreError as error:
        raise TrainshedError(f"AWS cannot be asked: {one_line(str(error))}") from error


def _refusal(error: ClientError) -> str:
    said = error.response.get("Error", {})
    call = f"ec2:{error.operation_name}"
    return f"{call}: {said.get('Code', 'unknown')}, {one_line(said.get('Message', ''))}"
