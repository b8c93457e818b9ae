"""`trainshed check` in a project: one synthesis, judged by every tool, in every form of output."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Answer

from trainshed.checks import judge_fleet
from trainshed.checks.templates import checkov
from trainshed.checks.templates.checking import TemplateReport, check_templates
from trainshed.cli import check as command
from trainshed.findings import Finding, Severity
from trainshed.plan import load_fleet

pytestmark = pytest.mark.synth
ROOT = Path(__file__).parents[2]
CLUSTER = """
name: OneCluster
region: us-west-2
zone: us-west-2a
instance: {type: trn1.32xlarge}
findings:
  accept:
    AwsSolutions-S1: it holds nothing
    pf-lambda-env-size: it was too large once
    TS-ZON-001: there is one account
  severity: {F3034: info}
""".lstrip()
# Its stacks are as ours make them, like all of the first one's but its own.
PLAIN = """
name: PlainCluster
region: us-west-2
orchestrator: ec2
instance: {type: trn1.32xlarge}
""".lstrip()
KUBERNETES = """
name: KubeCluster
region: us-west-2
orchestrator: eks
instance: {type: trn1.32xlarge}
kubernetes: {access: [{role: MachineLearning}]}
""".lstrip()
# With a warning of ours, which the synthesis has as an annotation.
WARNED = CLUSTER + "job: {timeout_hours: 240}\n"
# One defect for each tool, and what the app's own code acknowledges.
APP = """
import aws_cdk as cdk
from aws_cdk import aws_s3 as s3

from trainshed.plan import load_fleet
from trainshed.spec import cluster_files
from trainshed_stacks import add_fleet

app = cdk.App()
files = cluster_files(app.node.try_get_context("clusters"), "-c clusters=")
stack, *_ = add_fleet(app, load_fleet(files))
filters = {
    "FilterPattern": "[time, level",
    "LogGroupName": "log",
    "MetricTransformations": [
        {"MetricName": "a", "MetricNamespace": "b", "MetricValue": "1"}
    ],
}
cdk.CfnResource(stack, "Filter", type="AWS::Logs::MetricFilter", properties=filters)
function = {
    "Code": {"ZipFile": "x"},
    "Handler": "index.x",
    "MemorySize": 5,
    "Role": "arn:aws:iam::123456789012:role/x",
    "Runtime": "python3.13",
}
cdk.CfnResource(stack, "Function", type="AWS::Lambda::Function", properties=function)
cdk.CfnOutput(stack, "Plain", value=cdk.Fn.sub("plain"))
bucket = s3.CfnBucket(stack, "Bucket")
cdk.Validations.of(bucket).acknowledge(
    cdk.Acknowledgment(id="AwsSolutions-S10", reason="nobody reads it")
)
cdk.CfnParameter(stack, "Unused")
cdk.Validations.of(stack).acknowledge(
    cdk.Acknowledgment(id="CloudFormation-Validate::W2001", reason="it is for later")
)
s3.CfnBucket(cdk.Stack(app, "Own"), "Bucket")
app.synth()
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with the defects, as the working directory."""
    folder = tmp_path_factory.mktemp("project")
    (folder / ".git").mkdir()
    (folder / "cdk.json").write_text(
        json.dumps(json.loads((ROOT / "cdk.json").read_text()) | {"app": "python3 app.py"})
    )
    (folder / "app.py").write_text(APP)
    (folder / "clusters").mkdir()
    (folder / "clusters" / "one.yaml").write_text(WARNED)
    (folder / "clusters" / "plain.yaml").write_text(PLAIN)
    (folder / "clusters" / "kube.yaml").write_text(KUBERNETES)
    before = Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest.fixture(scope="module")
def report(project: Path) -> TemplateReport:
    """What the tools say about it; asked once, because that takes many seconds."""
    steps: list[str] = []
    files = [Path(f"clusters/{name}.yaml") for name in ("one", "plain", "kube")]
    plans = load_fleet(files).clusters
    report = check_templates(plans, Path(), None, steps.append)
    assert any("synthesised" in step for step in steps)
    return report


@pytest.fixture(scope="module")
def findings(report: TemplateReport) -> list[Finding]:
    """What is found in the project, as the cluster file says."""
    fleet = load_fleet([Path("clusters/one.yaml")])
    return judge_fleet(fleet, report.findings, report.runs)


@pytest.fixture
def checked(
    report: TemplateReport, trainshed: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Answer]:
    """Run the command on that project, with what the tools said of it."""
    monkeypatch.setattr(command, "check_templates", lambda *_: report)
    return lambda *arguments: trainshed("check", *arguments)


def found(findings: list[Finding], rule: str) -> list[Finding]:
    """Return the findings of a rule."""
    return [finding for finding in findings if finding.rule == rule]


@pytest.mark.parametrize(
    ("tool", "rule", "severity", "resource"),
    [
        ("cdk-preflight", "pf-logs-filter-pattern-bracket", Severity.ERROR, "OneCluster/Filter"),
        ("cdk-nag", "AwsSolutions-S1", Severity.ERROR, "OneCluster/Bucket"),
        ("cdk", "F3034", Severity.INFO, "OneCluster/Function"),
        ("cfn-lint", "W1020", Severity.WARNING, "OneCluster"),
    ],
)
def test_each_tool_finds_its_defect(
    findings: list[Finding], tool: str, rule: str, severity: Severity, resource: str
) -> None:
    finding = found(findings, rule)[0]

    assert (finding.tool, finding.severity, finding.resource) == (tool, severity, resource)
    assert finding.message
    assert finding.place
    assert (finding.place.file, finding.place.line) == ("clusters/one.yaml", 1)


@pytest.mark.skipif(checkov.missing() is not None, reason="checkov is not installed")
def test_checkov_finds_its_defect(findings: list[Finding]) -> None:
    finding = found(findings, "CKV_AWS_53")[0]

    assert (finding.tool, finding.resource) == ("checkov", "OneCluster/Bucket")


def test_the_cluster_file_accepts_what_another_tool_finds(findings: list[Finding]) -> None:
    ours, other = found(findings, "AwsSolutions-S1")

    assert (ours.accepted, ours.fails) == ("it holds nothing", False)
    assert (other.resource, other.accepted) == ("Own/Bucket", None)


def test_what_the_code_acknowledges_is_accepted_with_its_reason(findings: list[Finding]) -> None:
    nag = next(each for each in found(findings, "AwsSolutions-S10") if each.accepted)
    (cdk,) = found(findings, "W2001")

    assert (nag.resource, nag.accepted) == ("OneCluster/Bucket", "nobody reads it")
    assert (cdk.tool, cdk.accepted) == ("cdk", "it is for later")


def test_what_trainshed_accepts_of_its_own_stacks_has_a_reason(findings: list[Finding]) -> None:
    dependencies = found(findings, "W3005")

    assert dependencies
    assert all(finding.accepted for finding in dependencies)


def test_our_own_rules_are_not_found_twice(findings: list[Finding]) -> None:
    ours = [each.rule for each in findings if each.rule.startswith("TS-")]

    assert ours
    assert len(ours) == len(set(ours))


def test_an_acceptance_that_finds_nothing_is_pointed_out(findings: list[Finding]) -> None:
    (finding,) = found(findings, "TS-FND-002")

    assert finding.message.startswith("pf-lambda-env-size is accepted")
    assert str(finding.place) == "clusters/one.yaml:8:5"


def test_a_stack_that_no_cluster_makes_stands_at_the_app(findings: list[Finding]) -> None:
    places = {str(each.place) for each in findings if (each.resource or "").startswith("Own/")}

    assert places == {"cdk.json"}


def test_no_shipped_stack_has_a_finding_that_nobody_accepts(findings: list[Finding]) -> None:
    open_ones = [
        (finding.rule, finding.resource)
        for finding in findings
        if finding.resource
        and finding.fails
        and not finding.resource.startswith(("Own", "OneCluster"))
    ]

    assert open_ones == []


def test_the_text_ends_with_a_summary(checked: Callable[..., Answer]) -> None:
    answer = checked()

    last = answer.out.splitlines()[-1]
    assert answer.code == 1
    assert " accepted" in last
    assert " errors, " in last
    assert "clusters/one.yaml: accepted AwsSolutions-S10 (cdk-nag): nobody reads it" in answer.out
    assert "clusters/one.yaml: accepted TS-ZON-001: there is one account" in answer.out


def test_json_has_the_findings_and_the_tools(checked: Callable[..., Answer]) -> None:
    answer = checked("--json")

    tools = {tool["tool"]: tool["state"] for tool in answer.json["tools"]}
    assert tools["cdk-preflight"] == tools["cdk-nag"] == tools["cfn-lint"] == "ran"
    assert {finding["tool"] for finding in answer.json["findings"]} >= {"trainshed", "cfn-lint"}


def results(log: Any, rule: str) -> list[Any]:
    """Return the results of a rule, of whatever tool."""
    return [result for run in log["runs"] for result in run["results"] if result["ruleId"] == rule]


def test_sarif_points_to_the_line_and_says_what_is_accepted(checked: Callable[..., Answer]) -> None:
    log = checked("--sarif").json

    (zone,) = results(log, "TS-ZON-001")
    location = zone["locations"][0]["physicalLocation"]
    assert location == {
        "artifactLocation": {"uri": "clusters/one.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 1},
    }
    assert zone["suppressions"] == [{"kind": "external", "justification": "there is one account"}]
    assert {result["level"] for result in results(log, "F3034")} == {"note"}


def test_every_part_of_the_sarif_log_has_what_the_standard_requires(
    checked: Callable[..., Answer],
) -> None:
    log = checked("--sarif").json

    assert log["version"] == "2.1.0"
    names = [run["tool"]["driver"]["name"] for run in log["runs"]]
    assert len(names) == len(set(names))
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert all(isinstance(each["executionSuccessful"], bool) for each in run["invocations"])
        assert all(rule["shortDescription"]["text"] for rule in rules)
        hashes = [each["partialFingerprints"]["primaryLocationLineHash"] for each in run["results"]]
        assert len(hashes) == len(set(hashes))
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["level"] in ("error", "warning", "note")
            assert result["message"]["text"]


def test_a_result_keeps_its_fingerprint_when_its_line_moves(
    checked: Callable[..., Answer], project: Path
) -> None:
    before = results(checked("--sarif").json, "TS-ZON-001")[0]
    (project / "clusters" / "one.yaml").write_text("# a comment\n" + WARNED)

    after = results(checked("--sarif").json, "TS-ZON-001")[0]

    (project / "clusters" / "one.yaml").write_text(WARNED)
    assert after["locations"] != before["locations"]
    assert after["partialFingerprints"] == before["partialFingerprints"]


def test_json_and_sarif_exclude_each_other(trainshed: Callable[..., Answer]) -> None:
    answer = trainshed("check", "--json", "--sarif")

    assert answer.code == 2
    assert "leave one of them out" in answer.err


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cluster file without a project, in the working directory."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "one.yaml"
    file.write_text(CLUSTER)
    return file


def test_without_a_project_the_templates_are_reported_as_unchecked(
    trainshed: Callable[..., Answer], cluster: Path
) -> None:
    answer = trainshed("check", "one.yaml")

    assert answer.code == 0
    assert "one.yaml: accepted TS-ZON-001: there is one account" in answer.out
    assert (
        "not run: cdk-preflight, cdk-nag, cdk, cfn-lint, checkov (there is no cdk.json here: run "
        "this in the folder of a project)"
    ) in answer.out.splitlines()[-1]


def test_the_shipped_cluster_of_a_withdrawn_type_has_one_warning(
    trainshed: Callable[..., Answer], cluster: Path
) -> None:
    answer = trainshed("check", "dl1", "--clusters", str(ROOT / "clusters" / "*.yaml"))

    assert answer.code == 1
    assert "dl1.yaml:8:3: warning TS-LIF-001: instance.type: the EC2 API has not" in answer.out
    assert "0 errors, 1 warning, 6 info, " in answer.out


def test_sarif_says_which_tool_did_not_run(trainshed: Callable[..., Answer], cluster: Path) -> None:
    log = trainshed("check", "one.yaml", "--sarif").json

    (run,) = log["runs"]
    said = run["invocations"][0]["toolExecutionNotifications"]
    assert "cfn-lint-not-run" in [each["descriptor"]["id"] for each in said]
    assert all("there is no cdk.json here" in each["message"]["text"] for each in said)
    assert run["invocations"][0]["executionSuccessful"]


def test_an_app_that_fails_is_quoted_and_our_own_findings_are_shown(
    trainshed: Callable[..., Answer], cluster: Path
) -> None:
    (cluster.parent / "cdk.json").write_text('{"app": "python3 app.py"}')
    (cluster.parent / "app.py").write_text("raise SystemExit('the moon is not right')")

    answer = trainshed("check", "one.yaml")

    assert answer.code == 1
    assert "accepted TS-ZON-001" in answer.out
    assert "error: cdk synth failed: " in answer.out
    assert "the moon is not right" in answer.out


def test_a_tool_that_prints_something_else_fails_alone(
    trainshed: Callable[..., Answer], cluster: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cluster.parent
    (folder / "cdk.json").write_text('{"app": "python3 app.py"}')
    (folder / "app.py").write_text(
        "import os, pathlib\n"
        "folder = pathlib.Path(os.environ['CDK_OUTDIR'])\n"
        "folder.mkdir()\n"
        "(folder / 'manifest.json').write_text('{\"artifacts\": {}}')\n"
    )
    (folder / "checkov").write_text("#!/bin/sh\necho '[]'\n")
    (folder / "checkov").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(checkov, "_environment", lambda: folder / "none")

    answer = trainshed("check", "one.yaml")

    assert answer.code == 1
    assert "accepted TS-ZON-001" in answer.out
    assert "error: checkov failed: it printed JSON in an unknown form" in answer.out


def test_a_failed_synthesis_makes_the_sarif_invocation_fail(
    trainshed: Callable[..., Answer], cluster: Path
) -> None:
    (cluster.parent / "cdk.json").write_text('{"app": "python3 app.py"}')
    (cluster.parent / "app.py").write_text("raise SystemExit('the moon is not right')")

    log = trainshed("check", "one.yaml", "--sarif").json

    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is False


def test_an_app_that_cannot_be_started_is_wrong_input(
    trainshed: Callable[..., Answer], cluster: Path
) -> None:
    (cluster.parent / "cdk.json").write_text('{"app": "uv run app.py"}')

    answer = trainshed("check", "one.yaml")

    assert answer.code == 2
    assert "start the app by python3" in answer.err


def test_a_tool_that_is_not_installed_is_reported_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))

    assert "pip install checkov" in str(checkov.missing())
