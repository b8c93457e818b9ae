"""`trainshed rule`: a rule by its id, and the list of all."""

import json
from collections.abc import Callable

from command_line import Answer

from trainshed.findings.rule import all_rules

Command = Callable[..., Answer]


def test_a_rule_is_explained_with_its_example_and_sources(trainshed: Command) -> None:
    answer = trainshed("rule", "TS-LIF-001")

    assert answer.code == 0
    assert answer.out.startswith("# TS-LIF-001: The EC2 API no longer lists the instance type\n")
    assert "What `trainshed check` prints of it:" in answer.out
    assert "What `trainshed lint` prints of it:" in answer.out
    assert "  accept: {TS-LIF-001: why it is fine for this cluster}" in answer.out
    assert "- <https://github.com/getmoto/moto/tree/master/moto/ec2/resources>" in answer.out


def test_an_id_that_no_rule_has_gets_the_nearest_one(trainshed: Command) -> None:
    answer = trainshed("rule", "TS-LIF-01")

    assert answer.code == 2
    assert "rule 'TS-LIF-01' is not known; did you mean TS-LIF-001?" in answer.err


def test_all_rules_are_listed(trainshed: Command) -> None:
    records = json.loads(trainshed("rule", "--json").out)

    assert [each["rule"] for each in records] == [*all_rules()]
    assert "TS-ACC-020" in trainshed("rule").out


def test_a_record_has_what_the_text_says(trainshed: Command) -> None:
    of_account = json.loads(trainshed("rule", "TS-ACC-020", "--json").out)
    of_files = json.loads(trainshed("rule", "TS-LIF-001", "--json").out)
    of_log = json.loads(trainshed("rule", "TS-COL-001", "--json").out)

    assert of_account["actions"] == [
        "servicequotas:GetServiceQuota",
        "servicequotas:GetAWSDefaultServiceQuota",
        "ec2:DescribeInstances",
    ]
    assert of_account["answers"] == ["TS-QUO-001"]
    assert of_files["commands"] == ["check", "lint"]
    assert [each["findings"][0]["rule"] for each in of_files["examples"]] == ["TS-LIF-001"] * 4
    assert (of_log["commands"], of_log["basis"]) == (["bench judge"], None)
    assert "command" not in of_log
