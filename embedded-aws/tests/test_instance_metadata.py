"""The metadata service, as processes on an instance with a network of its own see it."""

import json
from datetime import UTC, datetime, timedelta

from command_bench import CommandBench

from embedded_aws.embedded import EmbeddedAws

ASK = """
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen
base = "http://169.254.169.254/latest/"
head = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
token = urlopen(Request(base + "api/token", None, head, method="PUT")).read().decode()
def ask(path, **head):
    try:
        print(urlopen(Request(base + "meta-data/" + path, None, head)).read().decode())
    except HTTPError as error:
        print(error.code)
ask("instance-id")
for path in sys.argv[1:]:
    ask(path, **{"X-aws-ec2-metadata-token": token})
"""


def test_a_spot_instance_reads_that_it_is_taken_back(namespaces_aws: EmbeddedAws) -> None:
    bench = CommandBench(namespaces_aws)
    [instance] = bench.launch(InstanceMarketOptions={"MarketType": "spot"})

    def asked(*paths: str) -> list[str]:
        script = f"cat >ask.py <<'END'\n{ASK}\nEND\npython3 ask.py {' '.join(paths)}"
        done = bench.wait(bench.send(script, [instance]), instance)
        text: str = done["StandardOutputContent"]
        return text.splitlines()

    # Without a token, and with one.
    assert asked("instance-id", "instance-life-cycle", "spot/instance-action") == [
        *("401", instance, "spot", "404")
    ]

    before = datetime.now(UTC).replace(microsecond=0)
    namespaces_aws.notify_spot(instance, "rebalance")
    namespaces_aws.notify_spot(instance)

    _, action, recommendation = asked("spot/instance-action", "events/recommendations/rebalance")
    told = json.loads(action)
    end = datetime.fromisoformat(told["time"])
    assert told["action"] == "terminate"
    assert timedelta(0) <= end - before - timedelta(minutes=2) < timedelta(minutes=2)
    assert datetime.fromisoformat(json.loads(recommendation)["noticeTime"]) >= before
