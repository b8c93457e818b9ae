"""What a booted guest is, seen from EC2 and from within."""

import ipaddress
import json

import pytest
from botocore.exceptions import ClientError
from guest_bench import UBUNTU, Bench, Guest


def test_an_instance_answers_on_its_loopback_address(ubuntu: Guest) -> None:
    described = ubuntu.describe()

    assert ipaddress.ip_address(described["PrivateIpAddress"]) in ipaddress.ip_network(
        "127.80.0.0/16"
    )
    assert not described.get("PublicDnsName")
    assert described["State"]["Name"] == "running"


def test_the_host_name_is_the_private_address(ubuntu: Guest) -> None:
    assert ubuntu.ssh("hostname") == f"ip-{ubuntu.address.replace('.', '-')}"


def test_user_data_ran_as_root(ubuntu: Guest) -> None:
    ubuntu.wait_for(
        "user data", lambda: ubuntu.try_ssh("sudo cat /root/refused").stdout == "from-user-data\n"
    )


@pytest.mark.parametrize(
    ("system", "distribution", "user"),
    [("ubuntu", "ubuntu 22.04", "ubuntu"), ("amazon", "amzn 2023", "ec2-user")],
)
def test_a_root_is_dressed_as_its_distribution(
    request: pytest.FixtureRequest, system: str, distribution: str, user: str
) -> None:
    guest: Guest = request.getfixturevalue(system)

    assert guest.ssh('. /etc/os-release; echo "$ID $VERSION_ID"; id -un').split("\n") == [
        distribution,
        user,
    ]


def test_nothing_failed_at_boot(ubuntu: Guest) -> None:
    assert ubuntu.ssh("systemctl is-system-running --wait") == "running"


def test_the_kernel_is_the_newest_on_the_disk(ubuntu: Guest) -> None:
    newest = ubuntu.ssh("ls /boot").removeprefix("vmlinuz-")

    assert ubuntu.ssh("uname -r") == newest
    assert ubuntu.ssh("python3 -c 'import os; print(os.uname().release)'") == newest


def test_host_keys_are_of_two_kinds(ubuntu: Guest) -> None:
    keys = ubuntu.ssh("cd /etc/ssh && ls ssh_host_*_key").split()

    assert keys == ["ssh_host_ed25519_key", "ssh_host_rsa_key"]


def test_amazon_linux_has_its_package_manager(amazon: Guest) -> None:
    assert amazon.ssh("rpm -qa") == ""
    assert "versionlock" in amazon.ssh("dnf versionlock --help")
    assert amazon.ssh("cat /etc/dnf/vars/awsregion") == "us-west-2"


def test_the_aws_cli_in_a_guest_reaches_the_embedded_aws(bench: Bench, ubuntu: Guest) -> None:
    seen = json.loads(ubuntu.ssh("sudo aws ec2 describe-subnets --output json"))

    # The toolkit's own tests of guests may share the server, and have a subnet there.
    assert bench.subnet_id in [subnet["SubnetId"] for subnet in seen["Subnets"]]


def test_a_service_finds_the_embedded_aws(bench: Bench, ubuntu: Guest) -> None:
    service = "sudo systemd-run --quiet --pipe --wait printenv AWS_ENDPOINT_URL AWS_REGION"

    assert ubuntu.ssh(service).split("\n") == [bench.aws.endpoint, "us-west-2"]


def test_the_console_shows_the_boot(bench: Bench, ubuntu: Guest) -> None:
    output = bench.ec2.get_console_output(InstanceId=ubuntu.instance_id)["Output"]

    assert "Reached target" in output
    assert "Cloud-init" in output


def test_two_guests_share_nothing(ubuntu: Guest, amazon: Guest) -> None:
    identity = "cat /etc/machine-id /etc/ssh/ssh_host_ed25519_key.pub"

    assert ubuntu.address != amazon.address
    assert not set(ubuntu.ssh(identity).split()) & set(amazon.ssh(identity).split()) - {
        "ssh-ed25519"
    }


def test_an_image_without_a_root_is_refused_with_the_reason(bench: Bench) -> None:
    windows = bench.ec2.describe_images(
        Owners=["amazon"], Filters=[{"Name": "name", "Values": ["Windows_Server-*"]}]
    )["Images"][0]

    with pytest.raises(ClientError, match=r"no guest for the AMI 'Windows_Server-.*it boots"):
        bench.launch(windows["ImageId"])


def test_an_image_that_is_not_there_is_refused(bench: Bench) -> None:
    with pytest.raises(ClientError, match=r"InvalidAMIID\.NotFound"):
        bench.launch("ami-00000000000000000")


def test_an_unknown_instance_type_is_refused(bench: Bench) -> None:
    with pytest.raises(ClientError, match=r"Invalid value 'm6i\.gigantic' for InstanceType"):
        bench.launch(bench.image_id(UBUNTU), InstanceType="m6i.gigantic")
