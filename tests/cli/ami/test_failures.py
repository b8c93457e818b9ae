"""What Packer 1.6.6 said in real builds that failed, and what is made of it.

Current plugins are made with AWS's second SDK for Go, whose errors are of another form; those here
are written after it (smithy-go, OperationError and ResponseError) and not seen in a build.
"""

import pytest

from trainshed.ami.failures import Cause, classify
from trainshed.ami.steps import step_of

TAIL = """\

==> Wait completed after 5 seconds 234 milliseconds

==> Some builds didn't complete successfully and had errors:
--> amazon-ebs.ami: {reason}

==> Builds finished but no artifacts were created.
"""


def said(*lines: str, reason: str = "") -> str:
    """Join lines of a build as Packer writes them, with the end that repeats the reason."""
    stamped = "".join(f"2026-11-20T13:37:05Z: {line}\n" for line in lines)
    return stamped + TAIL.format(reason=reason)


def launching(code: str, message: str) -> str:
    reason = (
        f"Error launching source instance: {code}: {message}\n\tstatus code: 400, request id: r"
    )
    return said(
        "==> amazon-ebs.ami: Launching a source AWS instance...",
        f"==> amazon-ebs.ami: {reason}",
        "==> amazon-ebs.ami: Deleting temporary keypair...",
        f"Build 'amazon-ebs.ami' errored after 1 second: {reason}",
        reason=reason,
    )


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("InsufficientInstanceCapacity", Cause.CAPACITY),
        ("UnfulfillableCapacity", Cause.CAPACITY),
        ("SpotMaxPriceTooLow", Cause.SPOT_PRICE),
        ("VcpuLimitExceeded", Cause.QUOTA),
        ("MaxSpotInstanceCountExceeded", Cause.QUOTA),
        ("InsufficientFreeAddressesInSubnet", Cause.NETWORK),
        ("ExpiredTokenException", Cause.CREDENTIALS),
        ("UnauthorizedOperation", Cause.DENIED),
        ("InvalidKeyPair.NotFound", Cause.OTHER),
    ],
)
def test_ec2s_error_code_decides(code: str, cause: Cause) -> None:
    error = classify(launching(code, "As EC2 says it."))

    assert error.cause is cause
    assert str(error).startswith(f"{cause}: ") and "\n" not in str(error)


def test_a_type_that_a_zone_does_not_offer_is_no_lack_of_capacity() -> None:
    error = classify(
        launching(
            "Unsupported",
            "Your requested instance type (trn1.32xlarge) is not supported in your requested "
            "Availability Zone (us-west-2a). Please retry your request by not specifying an "
            "Availability Zone or choosing us-west-2d.",
        )
    )

    assert error.cause is Cause.UNOFFERED
    assert "choosing us-west-2d" in str(error)


def test_the_action_that_iam_names_wins_over_the_call() -> None:
    error = classify(
        launching(
            "UnauthorizedOperation",
            "You are not authorized to perform this operation. User: arn:aws:iam::123456789012:"
            "user/bob is not authorized to perform: iam:PassRole on resource: x because no "
            "identity-based policy allows it. Encoded authorization failure message: 4rT5yZ0pQ",
        )
    )

    assert "the credentials lack iam:PassRole" in str(error)
    assert "4rT5yZ0pQ" not in str(error)


def test_a_denial_that_packer_retried_names_what_packer_was_doing() -> None:
    reason = (
        "Error creating temporary keypair: retry count exhausted. Last err: "
        "UnauthorizedOperation: You are not authorized to perform this operation.\n"
        "\tstatus code: 403, request id: r"
    )

    error = classify(
        said(f"Build 'amazon-ebs.ami' errored after 2 minutes: {reason}", reason=reason)
    )

    assert error.cause is Cause.DENIED
    assert "the credentials lack ec2:CreateKeyPair" in str(error)


def operation(service: str, name: str, code: str, message: str) -> str:
    """An error of AWS's second SDK for Go."""
    return (
        f"operation error {service}: {name}, https response error StatusCode: 403, "
        f"RequestID: 0a1b2c3d-4e5f, api error {code}: {message}"
    )


@pytest.mark.parametrize(
    ("reason", "cause", "words"),
    [
        (
            "Error launching source instance: "
            + operation("EC2", "RunInstances", "UnauthorizedOperation", "You are not authorized."),
            Cause.DENIED,
            "the credentials lack ec2:RunInstances",
        ),
        (
            operation(
                "IAM",
                "CreateInstanceProfile",
                "AccessDenied",
                "User: arn:aws:iam::123456789012:user/bob is not authorized to perform: "
                "iam:TagInstanceProfile on resource: x",
            ),
            Cause.DENIED,
            "the credentials lack iam:TagInstanceProfile",
        ),
        (
            "Error launching source instance: "
            + operation("EC2", "RunInstances", "InsufficientInstanceCapacity", "None left."),
            Cause.CAPACITY,
            "None left",
        ),
        (
            "timed out waiting for IAM changes to propagate to EC2: "
            + operation("EC2", "RunInstances", "VPCIdNotSpecified", "No default VPC."),
            Cause.NETWORK,
            "name one in the variable iam_instance_profile",
        ),
        (
            "No AMI was found matching filters: &{DryRun:<nil> Filters:[{Name:0xc000}]}",
            Cause.NO_SOURCE_AMI,
            "pinned by name in packer/pins.json",
        ),
        (
            "Error querying AMI: operation error EC2: DescribeImages, get identity: get "
            "credentials: failed to refresh cached credentials, no EC2 IMDS role found",
            Cause.CREDENTIALS,
            "set AWS_PROFILE",
        ),
    ],
)
def test_current_plugins_are_understood(reason: str, cause: Cause, words: str) -> None:
    error = classify(
        said(f"Build 'amazon-ebs.ami' errored after 1 second: {reason}", reason=reason)
    )

    assert error.cause is cause
    assert words in str(error)
    assert "0xc000" not in str(error)


def test_ssh_that_never_came_up_says_what_ways_there_are() -> None:
    error = classify(
        said(
            "==> amazon-ebs.ami: Waiting for SSH to become available...",
            "==> amazon-ebs.ami: Timeout waiting for SSH.",
            reason="Timeout waiting for SSH.",
        )
    )

    assert error.cause is Cause.SSH
    assert "ssh_interface" in str(error)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        pytest.param(
            "efa-installer: sha256 is 0a and not 0b; check pins.json",
            Cause.VERIFICATION,
            id="checksum",
        ),
        pytest.param(
            "efa-installer: unknown key: https://a/key holds AA and not BB; check key",
            Cause.VERIFICATION,
            id="key",
        ),
        pytest.param(
            "efa-installer: https://a/b.tar.gz answered 404; check url and version",
            Cause.PROVISIONING,
            id="not-found",
        ),
    ],
)
def test_a_scripts_own_line_is_repeated_with_the_scripts_name(line: str, cause: Cause) -> None:
    reason = "Script exited with non-zero exit status: 1. Allowed exit codes are: [0]"

    error = classify(
        said(
            "==> amazon-ebs.ami: Provisioning with shell script: /tmp/t/scripts/15-kernel.sh",
            "    amazon-ebs.ami: installed",
            "==> amazon-ebs.ami: Provisioning with shell script: /tmp/t/scripts/20-efa.sh",
            f"==> amazon-ebs.ami: trainshed: ERROR: {line}",
            "==> amazon-ebs.ami: Provisioning step had errors: Running the cleanup provisioner",
            reason=reason,
        )
    )

    assert error.cause is cause
    assert str(error) == f"{cause}: {line} (in 20-efa.sh)"


def test_a_script_without_a_line_of_its_own_is_named() -> None:
    reason = "Script exited with non-zero exit status: 137. Allowed exit codes are: [0]"

    error = classify(
        said(
            "==> amazon-ebs.ami: Provisioning with shell script: /tmp/t/scripts/40-nvidia.sh",
            "    amazon-ebs.ami: Killed",
            reason=reason,
        )
    )

    assert error.cause is Cause.PROVISIONING
    assert "40-nvidia.sh: Script exited with non-zero exit status: 137" in str(error)


def test_what_is_not_known_is_shown_as_packer_said_it() -> None:
    error = classify(said(reason="Error waiting for AMI: unexpected state 'failed'"))

    assert str(error) == "failed: Error waiting for AMI: unexpected state 'failed'"


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("==> amazon-ebs.ami: Stopping the source instance...", "Stopping the source instance"),
        ("2026-11-20T13:37:05Z: ==> amazon-ebs.ami: Provisioning with shell script: /t/20-efa.sh",
         "20-efa.sh"),
        ("==> amazon-ebs.ami: Provisioning with shell script: /tmp/packer-shell123", None),
        ("    amazon-ebs.ami: Instance ID: i-0", None),
        ("==> amazon-ebs.ami: WARNING: apt does not have a stable CLI interface", None),
        ("==> amazon-ebs.ami:   Filters: [{", None),
        ("==> Wait completed after 5 seconds", None),
        ("", None),
    ],
)  # fmt: skip
def test_steps_are_reported_from_other_lines(line: str, step: str | None) -> None:
    assert step_of(line) == step
