"""How often a cluster calls Node, where CDK runs: the part of a synthesis that is ours to keep low.

Seconds depend on the machine, and most of them are CDK's own (docs/architecture.md, "Speed").
"""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from jsii._kernel.providers.process import _NodeProcess

from trainshed.plan import load_fleet
from trainshed_stacks import add_fleet

ROOT = Path(__file__).parents[2]
# The same resources as typed L1 constructs take 340, 15 for those that watch a cluster, which are
# L1 here, too, and one for the log group of metrics. Two ask whether `trainshed check` asks.
CALLS_MAX = 429


def test_an_added_cluster_takes_few_calls_to_node(monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = load_fleet([ROOT / "clusters" / "train.yaml"])
    # What all clusters share is made with the first.
    add_fleet(cdk.App(), fleet)
    app, calls, send = cdk.App(), [], _NodeProcess.send

    def record(process: _NodeProcess, request: Any, response_type: Any) -> Any:
        calls.append(request)
        return send(process, request, response_type)

    monkeypatch.setattr(_NodeProcess, "send", record)

    add_fleet(app, fleet)

    assert 0 < len(calls) <= CALLS_MAX
