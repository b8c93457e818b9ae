"""The gateway to AWS: every call of trainshed's own commands, and what may go wrong with it.

boto3 takes longer to import than most commands take to run, so it is imported by the first call.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from trainshed.errors import Failure, TrainshedError, UnknownName, one_line
from trainshed.region import REGION_ADVICE

_DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"})
# S3 answers HEAD with a status alone, and its permission has another name than the call.
_DENIED_HEAD = "403"
_ACTIONS = {"s3:HeadBucket": "s3:ListBucket"}
# Names of services in IAM's actions, where boto3's differ.
_PREFIXES = {"service-quotas": "servicequotas"}
# "Common errors" of EC2's and of the other services' API references.
_BAD_CREDENTIALS = frozenset(
    {
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
# IAM names the action that was denied; RunInstances, for instance, needs others too.
_LACKED = re.compile(r"not authorized to perform:? ([\w-]+:\w+)")


class AwsRefusal(Failure):
    """AWS refuses a call.

    Args:
        code: AWS's error code.
        message: the whole of it, in words.
        lacks: the IAM action that the credentials may not use, when that is why.
    """

    def __init__(self, code: str, message: str, lacks: str | None = None) -> None:
        self.code, self.lacks = code, lacks
        super().__init__(message)


class BadCredentials(TrainshedError):
    """There are no credentials, or AWS takes none of their calls: they expired, or are wrong."""


@contextmanager
def accepting(*codes: str, saying: str = "") -> Iterator[None]:
    """End the block at a refusal that is an answer, for instance that something is not there.

    Args:
        codes: AWS's error codes that are.
        saying: a part of AWS's words, where its code alone does not tell.
    """
    try:
        yield
    except AwsRefusal as error:
        if error.code not in codes or saying not in str(error):
            raise


class Region:
    """One region of the account.

    Args:
        name: for instance `us-west-2`.
        client: makes a boto3 client of a service; by default by the environment's credentials.
    """

    def __init__(self, name: str, client: Callable[[str], Any] | None = None) -> None:
        self.name = name
        self._make = client or self._from_environment
        self._clients: dict[str, Any] = {}
        # boto3 makes one client at a time; a client may then be used by several threads.
        self._making = threading.Lock()

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        """Call an API once.

        Args:
            service: boto3's name of the service, for instance `ec2`.
            operation: boto3's name of the method, for instance `describe_images`.
            params: the operation's input.

        Raises:
            AwsRefusal: AWS refuses; it names the IAM action when the caller lacks a permission.
            Failure: no answer.
        """
        with _asking(service, self.name):
            answer: dict[str, Any] = getattr(self._client(service), operation)(**params)
        return answer

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Iterator[Any]:
        """Yield the members of a list, over all pages; raises as `call` does.

        Args:
            service: as for `call`.
            operation: as for `call`.
            key: name of the list in the answer, for instance `Images`.
            params: the operation's input.
        """
        with _asking(service, self.name):
            for page in self._client(service).get_paginator(operation).paginate(**params):
                yield from page.get(key, [])

    def wait(self, service: str, waiter: str, **params: Any) -> None:
        """Wait as boto3's waiter of this name does; raises as `call` does.

        Args:
            service: as for `call`.
            waiter: for instance `instance_terminated`.
            params: what to wait for.
        """
        with _asking(service, self.name):
            self._client(service).get_waiter(waiter).wait(**params)

    def presigned_url(
        self, service: str, operation: str, *, headers: Mapping[str, str], seconds: int
    ) -> str:
        """Return a URL by which somebody else makes a call in our name; raises as `call` does.

        Args:
            service: as for `call`.
            operation: as for `call`; one that is a GET and takes no input.
            headers: which the other one must send with it.
            seconds: how long AWS takes it.
        """

        def add_headers(request: Any, **_: Any) -> None:
            for name, value in headers.items():
                request.headers[name] = value

        with _asking(service, self.name):
            # One of its own: what it adds is for this URL alone.
            client = self._make(service)
            client.meta.events.register(f"before-sign.{service}", add_headers)
            url: str = client.generate_presigned_url(operation, ExpiresIn=seconds, HttpMethod="GET")
        return url

    def _client(self, service: str) -> Any:
        with self._making:
            if service not in self._clients:
                self._clients[service] = self._make(service)
            return self._clients[service]

    def _from_environment(self, service: str) -> Any:
        import boto3
        from botocore.config import Config

        config = Config(
            connect_timeout=10,
            read_timeout=60,
            retries={"mode": "standard", "max_attempts": 4},
        )
        return boto3.client(service, region_name=self.name, config=config)


def regions(named: list[str] | None) -> list[Region]:
    """Return the regions that were named, or the environment's one.

    Raises:
        TrainshedError: none was named, and the environment has none.
        UnknownName: no region can have such a name.
    """
    import boto3
    from botocore.exceptions import UnknownRegionError

    with _asking("sts", ""):
        session = boto3.Session()
        default = os.environ.get("AWS_REGION") or session.region_name
    names = list(dict.fromkeys(named or ([default] if default else [])))
    if not names:
        raise TrainshedError(f"no region is given; name one with --region, or {REGION_ADVICE}")
    for name in names:
        try:
            # By its form, so that a region which is younger than boto3 is one too.
            session.get_partition_for_region(name)
        except UnknownRegionError:
            known = session.get_available_regions("ec2")
            raise UnknownName("region", name, known) from None
    return [Region(name) for name in names]


def lacked_action(message: str) -> str | None:
    """Return the IAM action that a denial of AWS's names, or None when it names none."""
    found = _LACKED.search(message)
    return found[1] if found else None


@contextmanager
def _asking(service: str, region: str) -> Iterator[None]:
    from botocore import exceptions, parsers

    try:
        yield
    except exceptions.NoCredentialsError as error:
        raise BadCredentials(
            "no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        ) from error
    except exceptions.ClientError as error:
        raise _refusal(error, service, region) from error
    except (exceptions.HTTPClientError, exceptions.ConnectionError) as error:
        raise Failure(f"AWS cannot be reached: {one_line(str(error))}") from error
    except parsers.ResponseParserError as error:
        raise Failure(
            "the answer is not from AWS: check AWS_ENDPOINT_URL and the proxies"
        ) from error
    except exceptions.WaiterError as error:
        raise AwsRefusal("WaiterError", one_line(str(error))) from error
    except exceptions.ProfileNotFound as error:
        raise BadCredentials(
            f"{one_line(str(error))}: set AWS_PROFILE to one of those that "
            "`aws configure list-profiles` names"
        ) from error
    except exceptions.BotoCoreError as error:
        raise TrainshedError(f"AWS cannot be asked: {one_line(str(error))}") from error
    # Botocore's own for its input are of the kind above.
    except ValueError as error:
        raise TrainshedError(
            f"AWS has no such address: {one_line(str(error))}; unset AWS_ENDPOINT_URL, or set it "
            "to the URL of an embedded AWS, for instance http://localhost:4566"
        ) from error


def _refusal(error: Any, service: str, region: str) -> TrainshedError:
    said = error.response.get("Error", {})
    code, message = said.get("Code", "unknown"), one_line(said.get("Message", ""))
    action = f"{_PREFIXES.get(service, service)}:{error.operation_name}"
    action = _ACTIONS.get(action, action)
    if code in _DENIED or code == _DENIED_HEAD:
        action = lacked_action(message) or action
        return AwsRefusal(
            code,
            f"the credentials may not call {action} in {region} ({code}); allow it "
            "in a policy of their role or user",
            lacks=action,
        )
    # EC2 has this code for an AMI that is not shared with the account, too.
    about_credentials = code != "AuthFailure" or "credentials" in message
    if code in _BAD_CREDENTIALS and about_credentials:
        return BadCredentials(
            f"AWS does not take the credentials: {code}, {message}; sign in again, or set "
            "AWS_PROFILE to a profile that works"
        )
    return AwsRefusal(code, f"AWS refuses {action} in {region}: {code}, {message}")
