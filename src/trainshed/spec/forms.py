"""The forms of texts in cluster files and the AMI pipeline's file."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from trainshed.documents.forms import Form, likely_meant
from trainshed.spec.mount import mount_problem


def _id(prefix: str, what: str) -> Form:
    return Form(
        pattern=f"^{prefix}-[0-9a-f]{{8,17}}$",
        words=f"the id of {what}, {prefix}- and 8 to 17 hexadecimal digits",
        example=f"{prefix}-0123456789abcdef0",
    )


def _meant_prefix(text: str) -> Iterator[str]:
    _, scheme, path = text.rpartition("s3://")
    yield from likely_meant(text)
    yield (path.partition("/")[2] if scheme else path).strip("/") + "/"


def _meant_mount(text: str) -> Iterator[str]:
    tries = (*likely_meant(text), "/" + text.strip("/"))
    yield from (each for each in tries if not mount_problem(each))


def _meant_moment(text: str) -> Iterator[str]:
    # The AWS CLI prints 2026-12-01T11:30:00.000Z, or 2026-12-01T11:30:00+00:00 in version 2.
    try:
        time = datetime.fromisoformat(text.strip().upper())
    except ValueError:
        return
    in_utc = time.astimezone(UTC) if time.tzinfo else time
    yield f"{in_utc:%Y-%m-%dT%H:%MZ}"


def _meant_role(text: str) -> Iterator[str]:
    # A session's ARN, as `aws sts get-caller-identity` prints it, names its role without a path.
    yield re.sub("^(arn:[a-z-]+):sts:(:[0-9]+):assumed-role/([^/]+)/.*", r"\1:iam:\2:role/\3", text)
    if not text.startswith("arn:"):  # another ARN with other punctuation is not the name of a role
        yield from likely_meant(text)


# CloudFormation's rule for stack names; shorter, because the names of other stacks follow from it.
CLUSTER_NAME = Form(
    pattern="^[A-Za-z](?:-?[A-Za-z0-9]){1,49}$",
    words="2 to 50 letters and digits, with single hyphens between them, beginning with a letter",
    example="TrainCluster",
)
SHARE_NAME = Form(
    pattern="^[a-z][a-z0-9-]{0,31}$",
    words="up to 32 lower-case letters, digits and hyphens, beginning with a letter",
    example="shared-data",
)
# ECR's rule for repository names; shorter, because a stack's name follows from it.
REPOSITORY = Form(
    pattern="^[a-z](?:[._/-]?[a-z0-9]){1,99}$",
    words="2 to 100 lower-case letters and digits, with single . _ / - between them, beginning "
    "with a letter",
    example="team/train",
)
IMAGE_TAG = Form(
    pattern="^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$",
    words="up to 128 letters, digits and _ . -, not beginning with . or -",
    example="2.9.0-neuronx",
)
# An image of any registry, as `docker pull` takes it; the tag or digest is not left out, because
# `latest` is another image tomorrow.
_IMAGE_PATH = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
IMAGE_URI = Form(
    pattern=f"^(?:[A-Za-z0-9.-]+(?::[0-9]+)?/)?{_IMAGE_PATH}(?:/{_IMAGE_PATH})*"
    "(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}|@sha256:[0-9a-f]{64})$",
    words="an image with its tag or digest, REGISTRY/NAME:TAG or REGISTRY/NAME@sha256:...",
    example="123456789012.dkr.ecr.us-west-2.amazonaws.com/team/train:2.9.0",
)
# EC2 and Batch take more in a tag; what every service takes is this.
TAG = Form(
    pattern=r"^[\w .:/=+@-]+$",
    words="letters, digits, spaces and _ . : / = + - @",
    example="ml-platform",
)
BUCKET = Form(
    pattern="^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$",
    words="the name of a bucket, 3 to 63 lower-case letters, digits, dots and hyphens",
    example="my-datasets",
)
# What S3 calls safe, less the asterisk, which is a wildcard in a policy.
PREFIX = Form(
    pattern=r"^(?:[A-Za-z0-9!_.'()-]+/)*$",
    words="folders of letters, digits and ! _ . ' ( ) -, each with a slash at its end, and none "
    "at the beginning",
    example="runs/llama/",
    meant=_meant_prefix,
)
POLICY = Form(
    pattern="^arn:aws(?:-cn|-us-gov)?:iam::(?:aws|[0-9]{12}):policy/[A-Za-z0-9+=,.@_/-]+$",
    words="the ARN of a managed policy, arn:aws:iam::...:policy/...",
    example="arn:aws:iam::123456789012:policy/read-datasets",
)
# POSIX, "Environment Variable Definition", with the lower case that NCCL's plugins have.
VARIABLE = Form(
    pattern="^[A-Za-z_][A-Za-z0-9_]*$",
    words="letters, digits and _, not beginning with a digit",
    example="NCCL_DEBUG",
)
MOUNT = Form(
    pattern="^(/[A-Za-z0-9._-]+)+$",
    words="an absolute path of letters, digits and . _ -",
    example="/fsx",
    meant=_meant_mount,
)
GITHUB = Form(
    pattern=r"^https://github\.com/[A-Za-z0-9-]+/[A-Za-z0-9._-]+$",
    words="the https address of a GitHub repository",
    example="https://github.com/example/trainshed",
)
CONNECTION = Form(
    pattern="^arn:aws:codeconnections:[a-z0-9-]+:[0-9]{12}:connection/[0-9a-f-]{36}$",
    words="the ARN of a connection, arn:aws:codeconnections:...",
    example="arn:aws:codeconnections:us-west-2:123456789012:"
    "connection/0a1b2c3d-4e5f-6789-abcd-ef0123456789",
)
BRANCH = Form(
    pattern="^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$",
    words="a branch of letters, digits and . _ / -",
    example="main",
)
CHANNEL = Form(
    pattern="^[a-z][a-z0-9-]*$",
    words="a channel of lower-case letters, digits and hyphens, beginning with a letter",
    example="candidate",
)
SCHEDULE = Form(
    pattern=r"^(cron\(\S+( \S+){5}\)|rate\([1-9][0-9]* (minutes?|hours?|days?)\))$",
    words="cron(...) of six fields, in UTC, or rate(...) in minutes, hours or days",
    example="cron(0 3 ? * SUN *)",
)
EMAIL = Form(
    pattern=r"^[^\s@]+@[^\s@]+\.[^\s@]+$",
    words="an e-mail address",
    example="ml-platform@example.com",
)
# SNS API reference, CreateTopic. A FIFO topic, whose name has a dot, takes no e-mail addresses, and
# CloudWatch sends to standard topics only.
TOPIC = Form(
    pattern="^arn:aws:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$",
    words="the ARN of a standard SNS topic, arn:aws:sns:...",
    example="arn:aws:sns:us-west-2:123456789012:ml-platform",
)
KMS_KEY = Form(
    pattern="^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[0-9a-f-]{36}$",
    words="the ARN of a KMS key, arn:aws:kms:...:key/...",
    example="arn:aws:kms:us-west-2:123456789012:key/0a1b2c3d-4e5f-6789-abcd-ef0123456789",
)
# IAM API reference, CreateRole, RoleName: 64 characters, of which the rest of the name needs 40.
ROLE_PREFIX = Form(
    pattern=r"^[A-Za-z0-9_+=,.@-]{1,24}$",
    words="up to 24 letters, digits and _ + = , . @ -",
    example="team-a-",
)
# IAM API reference, CreateRole: name and path.
ROLE = Form(
    pattern=r"^(?:arn:aws[a-z-]*:iam::[0-9]{12}:role/(?:[!-.0-~]+/)*)?[A-Za-z0-9_+=,.@-]{1,64}$",
    words="the name of an IAM role of the cluster's account, or the ARN of a role, "
    "arn:aws:iam::...:role/...",
    example="MachineLearning",
    meant=_meant_role,
)
# Kubernetes documentation, "Object Names and IDs", RFC 1123 label names.
NAMESPACE = Form(
    pattern="^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$",
    words="up to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends",
    example="training",
)
RESERVATION = _id("cr", "a capacity reservation")
# Resource Groups API reference, GroupResources: a name of up to 300 characters.
BLOCK = Form(
    pattern="^(?:cr-[0-9a-f]{8,17}|"
    "arn:aws:resource-groups:[a-z0-9-]+:[0-9]{12}:group/[A-Za-z0-9_.-]{1,300})$",
    words="the id of a Capacity Block, cr- and 8 to 17 hexadecimal digits, or the ARN of a "
    "resource group of blocks, arn:aws:resource-groups:...:group/...",
    example="cr-0fedcba9876543210",
)
MOMENT = Form(
    pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?Z$",
    words="a time in UTC, as YYYY-MM-DDTHH:MMZ",
    example="2026-12-01T11:30Z",
    meant=_meant_moment,
)
TIME_OF_DAY = Form(
    pattern="^(?:[01][0-9]|2[0-3]):[0-5][0-9]$",
    words="a time of the day in quotes, as HH:MM",
    example="08:00",
)
_WEEKDAY = "(?:mon|tue|wed|thu|fri|sat|sun)"
WEEKDAYS = Form(
    pattern=f"^{_WEEKDAY}(?:-{_WEEKDAY})?$",
    words="a day of the week, or two with a hyphen between them",
    example="mon-fri",
)
# EventBridge Scheduler API reference, CreateSchedule: up to 50 characters.
TIME_ZONE = Form(
    pattern="^[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*$",
    words="a time zone of the IANA database",
    example="Europe/Berlin",
)
VPC = _id("vpc", "a VPC")
SUBNET = _id("subnet", "a subnet")
SECURITY_GROUP = _id("sg", "a security group")
FILE_SYSTEM = _id("fs", "a file system")
RULE = Form(
    pattern="^[A-Za-z][A-Za-z0-9_-]*$",
    words="the id of a rule: letters, digits, hyphens and underscores",
    example="TS-ZON-001",
)
REASON = Form(
    pattern=r"^\S(.*\S)?$",
    words="a reason on one line, without spaces around it",
    example="our accounts share one mapping of zones",
)
