"""Why a build failed, from the output of Packer: one message, and what to do about it."""

import re
import signal
from dataclasses import dataclass
from enum import StrEnum

from trainshed.aws import lacked_action
from trainshed.errors import Failure, one_line


class Cause(StrEnum):
    """Kind of a build's failure."""

    CAPACITY = "no capacity"
    DENIED = "missing permission"
    NO_SOURCE_AMI = "no source AMI"
    QUOTA = "quota"
    SPOT_PRICE = "spot price too low"
    UNOFFERED = "type not offered"
    NETWORK = "no network"
    SSH = "ssh never up"
    VERIFICATION = "verification failed"
    SELF_TEST = "self-test failed"
    PROVISIONING = "provisioning failed"
    INVALID_TEMPLATE = "invalid template"
    PLUGIN = "missing plugin"
    CREDENTIALS = "no credentials"
    INTERRUPTED = "interrupted"
    TIMEOUT = "timeout"
    OTHER = "failed"


class BuildError(Failure):
    """A build that failed.

    Args:
        cause: which kind of failure.
        message: what happened, and what to do.
    """

    def __init__(self, cause: Cause, message: str) -> None:
        self.cause, self.message = cause, message
        super().__init__(f"{cause}: {message}")


class Interrupted(BuildError):
    """A build that was asked to stop, and that Packer cleaned up.

    Args:
        number: the signal that asked.
    """

    def __init__(self, number: int) -> None:
        super().__init__(Cause.INTERRUPTED, "the build was stopped, and Packer has cleaned up")
        self.exit_code = 128 + number


@dataclass(frozen=True, slots=True)
class _Rule:
    """What Packer says about one kind of failure; group 1 is what to repeat to the user."""

    cause: Cause
    pattern: str
    remedy: str


# The first that matches. EC2's codes are those of
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
_RULES = (
    _Rule(
        Cause.CAPACITY,
        r"((?:InsufficientInstanceCapacity|UnfulfillableCapacity|InsufficientHostCapacity).*)",
        "try again later, give more subnets in other zones, or set the variable instance_type to "
        "another type: the drivers compile on any",
    ),
    _Rule(
        Cause.SPOT_PRICE,
        r"(SpotMaxPriceTooLow.*)",
        "raise the spot price, or build on demand",
    ),
    _Rule(
        Cause.QUOTA,
        r"((?:VcpuLimitExceeded|InstanceLimitExceeded|MaxSpotInstanceCountExceeded"
        r"|VolumeLimitExceeded|MaxIOPSLimitExceeded|ResourceLimitExceeded"
        r"|PendingSnapshotLimitExceeded|KeyPairLimitExceeded|SecurityGroupLimitExceeded"
        r"|AMIQuotaExceeded|VolumeSizeLimitExceeded).*)",
        "ask for a higher quota (Service Quotas, Amazon EC2), or set the variable instance_type to "
        "a smaller type",
    ),
    _Rule(
        Cause.UNOFFERED,
        r"((?:Unsupported|InvalidInstanceType|InvalidParameterValue): [^\n]*instance type.*)",
        "give a subnet in a zone that offers the type, or set the variable instance_type to "
        "another type",
    ),
    _Rule(
        Cause.NO_SOURCE_AMI,
        # Newer plugins print the addresses of the filters, which mean nothing to a user.
        r"(No AMI was found matching filters(?:: \{\n(?:.|\n)*?^\})?|InvalidAMIID\.\w+: .*)",
        "the source AMI is pinned by name in packer/pins.json: the region may not have it, or "
        "its owner has withdrawn it; pin a newer one (docs/amis.md)",
    ),
    # https://github.com/hashicorp/packer-plugin-amazon/issues/675
    _Rule(
        Cause.NETWORK,
        r"(IAM changes to propagate to EC2: .*VPCIdNotSpecified.*)",
        "plugin 1.8.1 cannot make its instance profile where there is no default VPC; name one in "
        "the variable iam_instance_profile",
    ),
    _Rule(
        Cause.NETWORK,
        r"((?:VPCIdNotSpecified|InvalidSubnetID\.NotFound|InvalidVpcID\.NotFound"
        r"|InsufficientFreeAddressesInSubnet|MissingInput: .*ubnet).*"
        r"|.*a valid Subnet Id was not specified.*)",
        "give a subnet that can reach the internet",
    ),
    _Rule(
        Cause.CREDENTIALS,
        r"(NoCredentialProviders|No valid credential sources found|ExpiredToken\w*|AuthFailure"
        r"|InvalidClientTokenId|RequestExpired|UnrecognizedClientException"
        r"|failed to (?:retrieve|refresh cached) credentials).*",
        "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, to credentials that are "
        "valid now",
    ),
    _Rule(
        Cause.SSH,
        r"(Timeout waiting for (?:SSH|WinRM)|timeout waiting for SSH"
        r"|Error waiting for SSH.*|ssh: handshake failed.*)",
        "the instance must reach the internet, for Session Manager too; without that, be "
        "reached on port 22: with the variable ssh_interface=private_ip from within the VPC, or "
        "with ssh_interface=public_ip and 'ssh_cidrs=[\"YOUR-ADDRESS/32\"]'",
    ),
    _Rule(
        Cause.PLUGIN,
        r"(.*session-manager-plugin.*(?:not found|no such file|not installed).*)",
        "install the Session Manager plugin of the AWS CLI, or use another way to the instance: "
        "set the variable ssh_interface=private_ip",
    ),
)
_DENIED = re.compile(
    r"(?:^|: )([^:\n]*): (?:retry count exhausted\. Last err: )?"
    r"(UnauthorizedOperation|AccessDenied\w*): (.*)",
    re.MULTILINE,
)
# As current plugins say it, which are made with another SDK: it names the operation.
_DENIED_OPERATION = re.compile(
    r"operation error (\w+): (\w+), .*?api error (UnauthorizedOperation|AccessDenied\w*): (.*)"
)
# What Packer was doing, when AWS does not say which action was denied.
_DOING = {
    "temporary keypair": "ec2:CreateKeyPair",
    "source instance": "ec2:RunInstances",
    "security group": "ec2:CreateSecurityGroup",
    "uthorizing": "ec2:AuthorizeSecurityGroupIngress",
    "querying AMI": "ec2:DescribeImages",
    "stopping instance": "ec2:StopInstances",
    "creating AMI": "ec2:CreateImage",
    "adding tags": "ec2:CreateTags",
    "copying": "ec2:CopyImage",
    "subnet": "ec2:DescribeSubnets",
    "modify AMI": "ec2:ModifyImageAttribute",
}
_SCRIPT_ERROR = re.compile(r"trainshed: ERROR: (.+)$", re.MULTILINE)
_UNVERIFIED = re.compile(r"checksum|sha-?256|signature|fingerprint|\bkey\b|signed", re.IGNORECASE)
# The self-test's table: state, component, version, detail.
_SELF_TEST_ROW = re.compile(r"^failed {2,}(\S.*)$", re.MULTILINE)
_EXITED = re.compile(r"Script (?:exited|disconnected).*|Script exited with non-zero exit status.*")
_SCRIPT = re.compile(r"Provisioning with shell script: \S*?([\w.-]+\.sh)\s*$", re.MULTILINE)
_TEMPLATE = re.compile(r"^Error: ((?:.|\n)+?)(?=\nError: |\n\n\n|\Z)", re.MULTILINE)
# The one refusal that no validation can make, in packer/locals.pkr.hcl.
_REFUSAL = re.compile(r'^with local\.refusal as "((?:.|\n)+?)"\.$', re.MULTILINE)
# Where Packer thinks it was, and what it says about the template's source.
_NO_HELP = re.compile(
    r"on .*line 0:|\(source code not available\)|This was checked by (?:.|\n)*"
    r"|To declare variable (?:.|\n)*|/\S*/trainshed-packer-\w+/packer/"
)
_LAST = re.compile(r"^--> [\w.-]+: (.+)", re.MULTILINE)
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: ", re.MULTILINE)
_PREFIX = re.compile(r"^(?:==>|   ) [\w.-]+\.[\w-]+: ?", re.MULTILINE)


def classify(said: str) -> BuildError:
    """Return the failure that Packer's output shows.

    Args:
        said: all that Packer said, of one run that failed.
    """
    text = _PREFIX.sub("", _STAMP.sub("", said))
    if "Cleanly cancelled builds" in text or "Cancelling build after receiving" in text:
        return Interrupted(signal.SIGINT)
    if errors := _SCRIPT_ERROR.findall(text):
        return _script_failure(text, errors)
    if denied := _denial(text):
        return denied
    for rule in _RULES:
        if found := re.search(rule.pattern, text, re.MULTILINE):
            return BuildError(rule.cause, f"{one_line(found[1])}; {rule.remedy}")
    if exited := _EXITED.search(text):
        scripts = _SCRIPT.findall(text)
        where = scripts[-1] if scripts else "a provisioner"
        return BuildError(
            Cause.PROVISIONING, f"{where}: {one_line(exited[0])}; the log has its last lines"
        )
    if last := _LAST.search(text):
        return BuildError(Cause.OTHER, one_line(last[1]))
    if refusal := _REFUSAL.search(text):
        return BuildError(Cause.INVALID_TEMPLATE, one_line(refusal[1]))
    if wrong := _TEMPLATE.search(text):
        summary, _, detail = _NO_HELP.sub("", wrong[1]).partition("\n")
        return BuildError(Cause.INVALID_TEMPLATE, f"{one_line(summary)}: {one_line(detail)}")
    return BuildError(Cause.OTHER, "Packer gave no reason")


def _denial(text: str) -> BuildError | None:
    if found := _DENIED_OPERATION.search(text):
        service, operation, code, message = found.groups()
        doing, known = f"{service} {operation}", f"{service.lower()}:{operation}"
    elif found := _DENIED.search(text):
        doing, code, message = found.groups()
        known = next((action for words, action in _DOING.items() if words in doing), "")
    else:
        return None
    action = lacked_action(message) or known
    what = f"the credentials lack {action}" if action else "the credentials lack a permission"
    said = one_line(re.sub(r"Encoded authorization failure message: \S+", "", message))
    return BuildError(
        Cause.DENIED,
        f"{what} ({doing.strip()}: {code}, {said}); docs/channels.md has the policy of a build",
    )


def _script_failure(text: str, errors: list[str]) -> BuildError:
    error = "; ".join(dict.fromkeys(map(one_line, errors)))
    scripts = _SCRIPT.findall(text)
    where = f" (in {scripts[-1]})" if scripts else ""
    if failed := [one_line(row) for row in _SELF_TEST_ROW.findall(text)]:
        return BuildError(Cause.SELF_TEST, f"{'; '.join(failed)}{where}; the log has the others")
    cause = Cause.VERIFICATION if _UNVERIFIED.search(error) else Cause.PROVISIONING
    return BuildError(cause, f"{error}{where}")
