"""Guests that never open ssh, for those who wait for it."""

from guest_bench import UBUNTU, Bench

from embedded_aws.faults import Fault
from embedded_aws.guests.own_faults import GUESTS, OPEN_SSH


def test_a_guest_reported_so_boots_and_never_opens_ssh(bench: Bench) -> None:
    image = bench.image_id(UBUNTU)
    bench.aws.fail(Fault(service=GUESTS, operation=OPEN_SSH))

    silent, open_ = bench.launch(image), bench.launch(image)

    open_.wait_for_ssh()
    silent.wait_for(
        "boot",
        lambda: (
            "cloud-final" in bench.ec2.get_console_output(InstanceId=silent.instance_id)["Output"]
        ),
    )
    assert "Connection refused" in silent.try_ssh("true").stderr
    ids = [silent.instance_id, open_.instance_id]
    bench.ec2.terminate_instances(InstanceIds=ids)
