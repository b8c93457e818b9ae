"""What spot-watch writes on instances of the embedded AWS, which tell it as EC2's do."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from command_bench import CommandBench
from job_bench import job_aws
from skips import unless

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from trainshed.nodes.folders import SPOT, SPOT_NOTICE

PROGRAM = Path(__file__).parents[2] / "packer/files/opt/trainshed/spot-watch"
# The folder is systemd's to make. The first line comes when the file is written.
WATCH = f"""mkdir -p $EMBEDDED_AWS_NODE{SPOT}
mkfifo said
{PROGRAM} >said & read line <said
echo "$line"
cat $EMBEDDED_AWS_NODE{SPOT_NOTICE}
kill $!"""


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """Instances have a metadata service, and there are still types of P3."""
    unless(networks=True)
    with job_aws(tmp_path_factory.mktemp("spot"), JobSettings(), as_of=date(2026, 3, 1)) as found:
        yield found


@pytest.mark.parametrize("instance_type", ["p3.2xlarge", "p4d.24xlarge", "c5.metal"])
def test_a_spot_instance_of_any_hypervisor_learns_of_its_end(
    aws: EmbeddedAws, instance_type: str
) -> None:
    bench = CommandBench(aws)
    spot = {"MarketType": "spot"}
    [instance] = bench.launch(InstanceType=instance_type, InstanceMarketOptions=spot)
    aws.notify_spot(instance, "rebalance")

    done = bench.wait(bench.send(WATCH, [instance]), instance)

    said, written = done["StandardOutputContent"].splitlines()
    assert said == f"trainshed: notice of EC2 about this instance: {written}"
    assert written.endswith(" rebalance")


def test_an_instance_on_demand_is_not_watched(aws: EmbeddedAws) -> None:
    bench = CommandBench(aws)
    [instance] = bench.launch(InstanceType="p3.2xlarge")

    done = bench.wait(bench.send(str(PROGRAM), [instance]), instance)

    assert (done["Status"], done["StandardOutputContent"]) == ("Success", "")
