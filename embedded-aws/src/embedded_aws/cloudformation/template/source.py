"""Where a request's template comes from: its body, or an object of the embedded S3."""

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from botocore.exceptions import ClientError

from embedded_aws.cloudformation.errors import ValidationError

# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
MAX_BODY: Final = 51_200
MAX_OBJECT: Final = 1_048_576

# S3's own hosts, and the embedded one's name or address.
_PATH_STYLE = re.compile(r"s3[.-][^/]*amazonaws\.com(\.cn)?|localhost|[\d.]+|[\da-f]*:[\da-f:.]+")


def template_text(body: str | None, url: str | None, client: Callable[[str], Any]) -> str:
    """Return the text of a template.

    Args:
        body: TemplateBody.
        url: TemplateURL, of AWS's S3 or of the embedded one, path style or virtual-hosted.
        client: gives a boto3 client of the embedded AWS.

    Raises:
        ValidationError: neither or both are given, it is too long, or the object is not there.
    """
    if body is not None and url is None:
        if len(body.encode()) > MAX_BODY:
            raise ValidationError(
                "1 validation error detected: Value at 'templateBody' failed to satisfy "
                f"constraint: Member must have length less than or equal to {MAX_BODY}"
            )
        return body
    if body is not None or url is None:
        raise ValidationError("Either Template URL or Template Body must be specified.")
    bucket, key = _place(url)
    try:
        content = client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    except ClientError as error:
        raise ValidationError(f"S3 error: {error.response['Error']['Message']}") from error
    if len(content) > MAX_OBJECT:
        raise ValidationError(f"Template may not exceed {MAX_OBJECT} bytes in size.")
    return str(content.decode())


def _place(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    host, path = parts.hostname or "", unquote(parts.path.lstrip("/"))
    if _PATH_STYLE.fullmatch(host):
        bucket, _, key = path.partition("/")
    else:
        bucket, key = host.partition(".s3")[0] if ".s3" in host else host.partition(".")[0], path
    if not bucket or not key:
        raise ValidationError(
            "1 validation error detected: Value at 'templateURL' failed to satisfy constraint: "
            "TemplateURL must be a supported URL."
        )
    return bucket, key
