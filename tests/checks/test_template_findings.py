"""Reports of other tools, as they wrote them, read into findings at a place of a cluster file."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from trainshed.app.synthesis import SynthesisedStack
from trainshed.checks.templates import checkov
from trainshed.checks.templates.accepted import accepted_by_us, always_accepted
from trainshed.checks.templates.model import Assembly
from trainshed.checks.templates.places import located, stack_owners
from trainshed.checks.templates.validation_report import read_validation
from trainshed.errors import Failure
from trainshed.findings import Finding, Severity
from trainshed.findings.tools import State, TemplateFinding, ToolRun
from trainshed.plan import ClusterPlan, Fleet

# Written by aws-cdk-lib 2.275, cdk-nag 3.0.2, cdk-preflight 1.9.1 and checkov 3.3.30 about the app
# of tests/cli/test_check.py, and cut to a few resources.
REPORTS = Path(__file__).with_name("tool_reports")
EXAMPLE = Path(__file__).parents[2] / "examples" / "ami-pipeline.yaml"
CLUSTER = """
region: us-west-2
name: OneCluster
instance: {type: trn1.32xlarge}
storage:
  lustre: {}
image: {repository: one}
""".lstrip()
KUBERNETES = """
region: us-west-2
name: OneCluster
orchestrator: eks
instance: {type: trn1.32xlarge}
kubernetes: {access: [{role: MachineLearning}]}
""".lstrip()


@pytest.fixture
def assembly(tmp_path: Path) -> Assembly:
    """A synthesised app with the reports beside it."""
    for file in REPORTS.iterdir():
        shutil.copy(file, tmp_path)
    file = tmp_path / "OneCluster.template.json"
    stack = SynthesisedStack(
        path="OneCluster", region="us-west-2", file=file, template=json.loads(file.read_text())
    )
    return Assembly(folder=tmp_path, stacks={"OneCluster": stack})


Edit = Callable[[Any], None]


@pytest.fixture
def read(assembly: Assembly) -> Callable[..., Mapping[str, ToolRun]]:
    """Read the report, after a change of it."""

    def run(edit: Edit = lambda _: None) -> Mapping[str, ToolRun]:
        file = assembly.folder / "validation-report.json"
        report = json.loads(file.read_text())
        edit(report["pluginReports"])
        file.write_text(json.dumps(report))
        return {run.tool: run for run in read_validation(assembly)}

    return run


Read = Callable[..., Mapping[str, ToolRun]]


def test_the_report_names_each_tools_findings(read: Read) -> None:
    runs = read()

    assert {tool: [found.rule for found in run.findings] for tool, run in runs.items()} == {
        "cdk-preflight": ["pf-logs-filter-pattern-bracket"],
        "cdk-nag": ["AwsSolutions-S1", "AwsSolutions-S10"],
        "cdk": ["F3034", "W2001"],
    }
    assert {run.state for run in runs.values()} == {State.RAN}


def test_a_finding_of_cdk_preflight_names_the_property_and_the_page(read: Read) -> None:
    (found,) = read()["cdk-preflight"].findings

    assert found.message.startswith("Properties.FilterPattern: The metric filter pattern starts")
    assert (found.severity, found.stack, found.path) == (
        Severity.ERROR,
        "OneCluster",
        "OneCluster/Filter",
    )
    assert found.source
    assert "FilterAndPatternSyntax" in found.source


def test_what_the_code_acknowledges_keeps_its_reason(read: Read) -> None:
    runs = read()

    accepted = {found.rule: found.accepted for run in runs.values() for found in run.findings}
    assert accepted["AwsSolutions-S10"] == "nobody reads it"
    assert accepted["W2001"] == "it is for later"
    assert accepted["AwsSolutions-S1"] is None


def test_rules_that_could_not_be_evaluated_are_an_error(read: Read) -> None:
    # engineErrorViolation in cdk-preflight 1.9.1, lib/private/enforce.js.
    violation = {
        "ruleName": "pf-engine-error",
        "description": "cdk-preflight could not evaluate its rules for this template",
        "severity": "error",
        "suggestedFix": "Report this",
        "violatingConstructs": [{"constructPath": "OneCluster"}],
    }

    runs = read(lambda reports: reports[1].update(violations=[violation]))

    (found,) = runs["cdk-preflight"].findings
    assert (found.rule, found.severity, found.remedy) == (
        "pf-engine-error",
        Severity.ERROR,
        "Report this",
    )


def test_a_plugin_that_failed_is_a_tool_that_failed(read: Read) -> None:
    # mkPluginFailure in aws-cdk-lib 2.275, core/lib/validation/private/report.js.
    failed = {"violations": [], "metadata": {"error": "Validation plugin failed: out of memory"}}

    runs = read(lambda reports: reports[0].update(failed))

    assert runs["cdk-nag"].state is State.FAILED
    assert "out of memory" in runs["cdk-nag"].reason


def test_a_tool_that_nobody_asked_is_not_taken_for_one_that_found_nothing(
    read: Read, assembly: Assembly
) -> None:
    (assembly.folder / "OneCluster.metadata.json").unlink()

    runs = read(lambda reports: reports.clear())

    assert {tool: run.state for tool, run in runs.items()} == {
        "cdk-preflight": State.NOT_RUN,
        "cdk-nag": State.NOT_RUN,
        "cdk": State.RAN,
    }
    assert "add_fleet" in runs["cdk-nag"].reason


def test_a_synthesis_without_a_report_is_a_failure(assembly: Assembly) -> None:
    (assembly.folder / "validation-report.json").unlink()

    assert {run.state for run in read_validation(assembly)} == {State.FAILED}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkov on the path that prints what the real one did, of the first file it is given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "checkov"
    program.write_text(
        "#!/bin/sh\n"
        'while [ "$1" != --file ]; do shift; done\n'
        'exec sed "s|\\"OneCluster.template.json\\"|\\"$2\\"|" "$(dirname "$2")/checkov.json"\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return program


def judged(assembly: Assembly) -> tuple[TemplateFinding, ...]:
    with checkov.loaded(assembly.folder) as judge:
        return judge(assembly)


def test_a_finding_of_checkov_names_the_construct_and_the_property(
    program: Path, assembly: Assembly
) -> None:
    found = judged(assembly)

    assert {each.path for each in found} == {"OneCluster/Bucket"}
    assert found[0].rule.startswith("CKV_AWS_")
    assert found[0].message.startswith("Properties/PublicAccessBlockConfiguration/")
    assert found[0].severity is Severity.WARNING


def test_checkov_that_finds_nothing_to_judge_finds_nothing(
    program: Path, assembly: Assembly
) -> None:
    program.write_text('#!/bin/sh\necho \'{"passed": 0, "failed": 0}\'\n')

    assert judged(assembly) == ()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'no such option' >&2; exit 2", "it ended with exit code 2: no such option"),
        ("exit 1", "it ended with exit code 1: and printed nothing"),
        ('echo \'{"results": {"parsing_errors": ["a.json"]}}\'', "it cannot read a.json"),
    ],
)
def test_checkov_that_fails_says_why(
    program: Path, assembly: Assembly, script: str, words: str
) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n")

    with pytest.raises(Failure, match=words):
        judged(assembly)


def test_checkov_whose_python_is_gone_says_so(program: Path, assembly: Assembly) -> None:
    program.write_text("#!/nowhere/python\n")

    with pytest.raises(Failure, match="checkov does not start: No such file"):
        judged(assembly)


@pytest.fixture
def plan(fleet: Callable[..., Fleet]) -> ClusterPlan:
    """A cluster with storage and an image, whose file has no field about its network."""
    return fleet(CLUSTER).clusters[0]


def at(plan: ClusterPlan, stack: str, resource_type: str, *, rule: str = "E1") -> Finding:
    """Locate a finding about a resource of a type in a stack."""
    template = {"Resources": {"It": {"Type": resource_type}}}
    made = SynthesisedStack(
        path=stack, region="us-west-2", file=Path(f"{stack}.json"), template=template
    )
    found = TemplateFinding(
        rule=rule, severity=Severity.ERROR, message="wrong", stack=stack, path=f"{stack}/It"
    )
    assembly = Assembly(folder=Path(), stacks={stack: made})
    return located(found, "cfn-lint", assembly, stack_owners([plan]))


@pytest.mark.parametrize(
    ("stack", "resource_type", "line", "field"),
    [
        ("OneStorage", "AWS::FSx::FileSystem", 5, "storage.lustre"),
        ("OneStorage", "AWS::EC2::SecurityGroup", 5, "storage.lustre"),
        ("OneStorage", "AWS::Lambda::Function", 5, "storage.lustre"),
        ("OneContainers", "AWS::ECR::Repository", 6, "image"),
        ("OneCluster", "AWS::EC2::LaunchTemplate", 3, "instance"),
        ("OneCluster", "AWS::Batch::ComputeEnvironment", 3, "instance"),
        ("OneCluster", "AWS::Batch::JobDefinition", 2, "job"),
        ("OneCluster", "AWS::SSM::Document", 2, "job"),
        ("OneCluster", "AWS::AutoScaling::AutoScalingGroup", 3, "instance"),
        ("OneCluster", "AWS::IAM::Role", 2, "iam"),
        ("OneCluster", "AWS::S3::Bucket", 2, ""),
        ("OnePrerequisites", "AWS::Lambda::Function", 3, "instance.ami"),
        ("OneNetwork", "AWS::EC2::Subnet", 2, "network"),
    ],
)
def test_a_finding_stands_at_the_field_that_its_resource_follows_from(
    plan: ClusterPlan, stack: str, resource_type: str, line: int, field: str
) -> None:
    place = at(plan, stack, resource_type).place

    assert place
    assert (place.line, place.field) == (line, field)


def test_a_shared_stack_belongs_to_the_first_of_its_clusters(fleet: Callable[..., Fleet]) -> None:
    shared = "network: {name: lab}\n"
    other = CLUSTER.replace("One", "Two").replace("one", "two")
    clusters = fleet(CLUSTER + shared, other + shared).clusters

    owner = stack_owners(clusters)["LabNetwork"]

    assert owner.where == clusters[0].where


def test_the_stack_of_a_control_plane_belongs_to_its_section(fleet: Callable[..., Fleet]) -> None:
    [plan] = fleet(KUBERNETES).clusters

    finding = at(plan, "OneControlPlane", "AWS::EKS::Cluster", rule="W3005")

    assert finding.place
    assert (finding.place.line, finding.place.field) == (5, "kubernetes")
    assert finding.accepted


def test_our_acceptance_about_keys_ends_when_a_key_is_given(fleet: Callable[..., Fleet]) -> None:
    key = "kms_key: arn:aws:kms:us-west-2:123456789012:key/0a1b2c3d-4e5f-6789-abcd-ef0123456789\n"
    without, with_key = (
        stack_owners(fleet(text).clusters)["OneCluster"] for text in (CLUSTER, CLUSTER + key)
    )

    assert accepted_by_us("checkov", "CKV_AWS_158", without)
    assert accepted_by_us("checkov", "CKV_AWS_158", with_key) is None
    assert accepted_by_us("checkov", "CKV_AWS_116", with_key)
    assert "CKV_AWS_158" not in always_accepted("checkov")
    assert "CKV_AWS_116" in always_accepted("checkov")
