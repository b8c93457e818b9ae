"""Boot one instance of an AMI and read the result of its self-test.

The result comes over the serial console: that takes no network, no open port, no key and no role,
in any subnet. https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_GetConsoleOutput.html
"""

import base64
import binascii
import json
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

from trainshed.ami.ami import Ami
from trainshed.ami.devices import efa_interfaces, known_type, require_devices
from trainshed.ami.subnets import find_subnets
from trainshed.aws import AwsRefusal, Region, accepting
from trainshed.errors import Failure
from trainshed.interfaces import NetworkInterface

_MARK = "trainshed-selftest"
# A console may break lines and mix others in between: so short numbered ones, and a checksum.
_LINE = re.compile(rf"{_MARK} (\d+)/(\d+) ([0-9a-f]{{8}}) ([A-Za-z0-9+/=]+)")
_PAUSE_SECONDS = 3
_GRACE_MINUTES = 5
_GONE = ("shutting-down", "terminated", "stopped", "stopping")

_USER_DATA = r"""#!/bin/bash
# If whoever started this instance is gone, it ends by itself: its shutdown is its termination.
shutdown -P "+{minutes}" || true
cat > /run/trainshed-report.py <<'END'
import base64, subprocess, time, zlib

# This runs beside the boot, of which the self-test is to see the end.
subprocess.run(["timeout", "300", "systemctl", "is-system-running", "--wait"])
report = subprocess.run(
    ["/opt/trainshed/selftest", "--json", "--stage", "boot"], stdout=subprocess.PIPE
).stdout
text = base64.b64encode(zlib.compress(report, 9)).decode()
parts = [text[start : start + 100] for start in range(0, len(text), 100)]
lines = [
    "{mark} %d/%d %08x %s\n" % (n, len(parts), zlib.crc32(part.encode()), part)
    for n, part in enumerate(parts, 1)
]
# Again and again: the console keeps the newest 64 KiB only, and a kernel message may spoil a line.
while True:
    with open("/dev/console", "w") as console:
        console.write("\n" + "".join(lines))
    time.sleep(20)
END
systemd-run --quiet --unit=trainshed-report python3 /run/trainshed-report.py
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlace:
    """Where and how an AMI is tested.

    Attributes:
        instance_type: for instance `m6i.xlarge`; devices can be checked only on one that has them.
        subnet_id: of the subnet, or None for the default one of the account.
        minutes: until the trial has failed.
    """

    instance_type: str
    subnet_id: str | None
    minutes: int

    @property
    def longest_minutes(self) -> int:
        """Minutes after which the instance ends by itself."""
        return self.minutes + _GRACE_MINUTES


def try_ami(
    region: Region, ami: Ami, place: TrialPlace, *, show: Callable[[str], None]
) -> dict[str, Any]:
    """Boot one instance of an AMI, return what its self-test says, and terminate it, always.

    A type of the catalogue gets all its EFA interfaces, and must show every device it has.

    Args:
        region: where the AMI is.
        ami: which.
        place: where and how.
        show: gets what is waited for.

    Returns:
        The self-test's JSON: `ami`, `components`, `ok`.

    Raises:
        Failure: the AMI is for another accelerator, the instance ended, or said nothing in time.
        AwsRefusal: it could not be launched.
    """
    instance = known_type(place.instance_type, ami)
    interfaces = efa_interfaces(instance) if instance else ()
    show(f"launching {place.instance_type} of {ami.image_id} in {region.name}")
    instance_id = _launch(region, ami, place, interfaces)
    try:
        selftest = _listen(region, instance_id, place, show)
        return require_devices(selftest, instance) if instance else selftest
    finally:
        _terminate(region, instance_id, place)
        show(f"terminated {instance_id}")


def read_console(text: str) -> dict[str, Any] | None:
    """Return the self-test's JSON from a console's output, or None while it is not whole."""
    parts: dict[int, str] = {}
    total = 0
    for number, count, checksum, part in _LINE.findall(text):
        if zlib.crc32(part.encode()) == int(checksum, 16):
            parts[int(number)], total = part, int(count)
    if not total or set(parts) != set(range(1, total + 1)):
        return None
    try:
        packed = base64.b64decode("".join(parts[n] for n in sorted(parts)), validate=True)
        selftest: dict[str, Any] = json.loads(zlib.decompress(packed))
    except (binascii.Error, zlib.error, ValueError):
        return {"ami": {}, "components": [], "ok": False, "error": "the self-test wrote no JSON"}
    return selftest


def _launch(
    region: Region, ami: Ami, place: TrialPlace, interfaces: Sequence[NetworkInterface]
) -> str:
    tags = {"Name": f"trainshed-test-{ami.image_id}", "trainshed:role": "ami-test"}
    marked = [{"Key": key, "Value": value} for key, value in tags.items()]
    user_data = _USER_DATA.replace("{minutes}", str(place.longest_minutes)).replace("{mark}", _MARK)
    answer = region.call(
        "ec2",
        "run_instances",
        ImageId=ami.image_id,
        InstanceType=place.instance_type,
        MinCount=1,
        MaxCount=1,
        UserData=user_data,
        InstanceInitiatedShutdownBehavior="terminate",
        MetadataOptions={"HttpTokens": "required"},
        TagSpecifications=[
            {"ResourceType": kind, "Tags": marked} for kind in ("instance", "volume")
        ],
        **_network(region, place, interfaces),
    )
    instance_id: str = answer["Instances"][0]["InstanceId"]
    return instance_id


def _network(
    region: Region, place: TrialPlace, interfaces: Sequence[NetworkInterface]
) -> dict[str, Any]:
    """Where the instance goes: EC2 wants the subnet with each interface where these are named."""
    if not interfaces:
        return {"SubnetId": place.subnet_id} if place.subnet_id else {}
    subnet_id = place.subnet_id or _default_subnet(region, place.instance_type)
    return {
        "NetworkInterfaces": [
            {
                "NetworkCardIndex": row.card,
                "DeviceIndex": row.device,
                "InterfaceType": row.kind.value,
                "SubnetId": subnet_id,
                "DeleteOnTermination": True,
            }
            for row in interfaces
        ]
    }


def _default_subnet(region: Region, instance_type: str) -> str:
    """The default VPC's subnet in the first zone that offers the type, or in the first zone."""
    subnets = find_subnets(region, named=[], filters=[])
    offerings = region.pages(
        "ec2",
        "describe_instance_type_offerings",
        "InstanceTypeOfferings",
        LocationType="availability-zone",
        Filters=[{"Name": "instance-type", "Values": [instance_type]}],
    )
    zones = {offering["Location"] for offering in offerings}
    return next((s.subnet_id for s in subnets if s.zone in zones), subnets[0].subnet_id)


def _terminate(region: Region, instance_id: str, place: TrialPlace) -> None:
    try:
        region.call("ec2", "terminate_instances", InstanceIds=[instance_id])
    except AwsRefusal as error:
        raise Failure(
            f"{instance_id} still runs: {error}; it terminates itself "
            f"{place.longest_minutes} minutes after its boot"
        ) from error


def _listen(
    region: Region, instance_id: str, place: TrialPlace, show: Callable[[str], None]
) -> dict[str, Any]:
    deadline = monotonic() + 60 * place.minutes
    console = ""
    while monotonic() < deadline:
        state = _state(region, instance_id)
        if state != "pending":
            console = _console(region, instance_id, running=state == "running") or console
        if (selftest := read_console(console)) is not None:
            return selftest
        if state in _GONE:
            raise Failure(f"{instance_id} is {state} before its self-test;{_last_words(console)}")
        show(f"{instance_id} is {state}: waiting for its self-test")
        sleep(_PAUSE_SECONDS)
    raise Failure(
        f"{instance_id} has not reported its self-test within {place.minutes} minutes;"
        f"{_last_words(console)}; allow it more"
    )


def _state(region: Region, instance_id: str) -> str:
    # EC2 may not know an instance yet that it has just made.
    state: str = "pending"
    with accepting("InvalidInstanceID.NotFound"):
        answer = region.call("ec2", "describe_instances", InstanceIds=[instance_id])
        state = answer["Reservations"][0]["Instances"][0]["State"]["Name"]
    return state


def _console(region: Region, instance_id: str, *, running: bool) -> str:
    options = {"Latest": True} if running else {}
    try:
        answer = region.call("ec2", "get_console_output", InstanceId=instance_id, **options)
    except AwsRefusal as error:
        # Only Nitro shows the console of the moment; the types before it, that of the boot.
        if not running or error.code != "UnsupportedOperation":
            raise
        answer = region.call("ec2", "get_console_output", InstanceId=instance_id)
    output: str = answer.get("Output", "")
    return output


def _last_words(console: str) -> str:
    lines = [line.strip() for line in console.splitlines() if line.strip()]
    return f" its console ends with: {lines[-1][:200]}" if lines else " its console says nothing"
