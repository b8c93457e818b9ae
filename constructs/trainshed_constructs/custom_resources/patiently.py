"""Calls to AWS that wait for a new role; `inline_source` puts the function into handlers."""

import time
from typing import Any

from botocore.exceptions import ClientError


def patiently(call: Any, **params: Any) -> Any:
    for pause in (2, 4, 8):  # seconds: a new role may not count yet
        try:
            return call(**params)
        except ClientError as error:
            if not error.response["Error"]["Code"].startswith(("AccessDenied", "Unauthorized")):
                raise
        time.sleep(pause)
    return call(**params)
