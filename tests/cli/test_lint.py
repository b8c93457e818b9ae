"""`trainshed lint`: what it prints of files that are not ours, and how it ends."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Answer

ROOT = Path(__file__).parents[2]
GOOD = "Resources: {Nodes: {Type: AWS::EC2::Instance, Properties: {InstanceType: p4d.24xlarge}}}\n"
BAD = GOOD.replace("p4d", "dl1")
Command = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files are, and the command runs."""
    (tmp_path / "good.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "bad.yaml").write_text(BAD, encoding="utf-8")
    (tmp_path / "other.yaml").write_text("a: b\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_guide_shows_what_is_printed(trainshed: Command, folder: Path) -> None:
    page = (ROOT / "docs/lint.md").read_text(encoding="utf-8")
    template = page.split("```yaml\n")[1].split("```")[0]
    shown = page.split("$ trainshed lint training.yaml\n")[1].split("```")[0]
    (folder / "training.yaml").write_text(template, encoding="utf-8")

    answer = trainshed("lint", "training.yaml")

    assert (answer.code, answer.out) == (1, shown)


@pytest.mark.parametrize(
    ("files", "code"),
    [
        pytest.param(["good.yaml"], 0, id="good"),
        pytest.param(["good.yaml", "bad.yaml"], 1, id="warning"),
        pytest.param(["bad.yaml", "other.yaml"], 2, id="unreadable"),
        pytest.param([], 2, id="none"),
    ],
)
def test_the_exit_code_says_how_it_went(
    trainshed: Command, folder: Path, files: list[str], code: int
) -> None:
    assert trainshed("lint", *files).code == code


def test_all_unreadable_files_are_named_and_the_others_are_judged(
    trainshed: Command, folder: Path
) -> None:
    answer = trainshed("lint", "other.yaml", "bad.yaml", "none.yaml", "bad.yaml")

    assert answer.out.count("bad.yaml:1:60: warning TS-LIF-001") == 1
    assert "other.yaml: it is no CloudFormation template" in answer.err
    assert "none.yaml cannot be read: no such file or directory" in answer.err
    assert "Traceback" not in answer.err


def test_without_a_file_that_can_be_judged_there_is_no_summary(
    trainshed: Command, folder: Path
) -> None:
    assert trainshed("lint", "other.yaml").out == ""


def test_json_has_the_findings(trainshed: Command, folder: Path) -> None:
    answer = trainshed("lint", "bad.yaml", "--json")

    findings = json.loads(answer.out)["findings"]
    assert [each["rule"] for each in findings] == ["TS-LIF-001", "TS-LIF-006"]
    assert findings[0]["place"] == {
        "file": "bad.yaml",
        "line": 1,
        "column": 60,
        "field": "Resources.Nodes.Properties.InstanceType",
    }


def test_sarif_has_the_rule_and_its_place(trainshed: Command, folder: Path) -> None:
    answer = trainshed("lint", "bad.yaml", "--sarif")

    (run,) = json.loads(answer.out)["runs"]
    assert run["tool"]["driver"]["rules"][0]["id"] == "TS-LIF-001"
    assert run["tool"]["driver"]["rules"][0]["shortDescription"]["text"]
    (place,) = run["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "bad.yaml"
    assert place["physicalLocation"]["region"] == {"startLine": 1, "startColumn": 60}


def test_sarif_describes_a_rule_that_only_lint_has(trainshed: Command, folder: Path) -> None:
    text = GOOD.replace("p4d.24xlarge", "p4d.24xlarge, ImageId: /aws/service/x")
    (folder / "bad.yaml").write_text(text, encoding="utf-8")

    (run,) = json.loads(trainshed("lint", "bad.yaml", "--sarif").out)["runs"]

    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "TS-AMI-012"
    assert rule["shortDescription"]["text"].startswith("The path of an SSM parameter")


def test_json_and_sarif_exclude_each_other(trainshed: Command, folder: Path) -> None:
    answer = trainshed("lint", "bad.yaml", "--json", "--sarif")

    assert answer.code == 2
    assert "exclude each other" in answer.err


SNAPSHOTS = sorted(
    path
    for path in (ROOT / "tests/snapshot/__snapshots__").rglob("*.json")
    if "differs" not in path.name
)


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_what_our_own_constructs_make_has_no_mistake(trainshed: Command, path: Path) -> None:
    answer = trainshed("lint", str(path))

    assert answer.code == 0, answer.out


def test_what_a_file_of_findings_accepts_fails_nothing(trainshed: Command, folder: Path) -> None:
    accepted = "findings: {accept: {TS-LIF-001: our account still has it}}\n"
    (folder / "accepted.yaml").write_text(accepted, encoding="utf-8")

    answer = trainshed("lint", "bad.yaml", "--findings", "accepted.yaml")

    first, *_, last = answer.out.splitlines()
    assert first == "bad.yaml: accepted TS-LIF-001: our account still has it"
    assert last.endswith("1 accepted")
    assert "warning TS-LIF-001" not in answer.out
    assert "TS-FND-002" not in answer.out


def test_a_file_of_findings_is_judged_itself(trainshed: Command, folder: Path) -> None:
    said = "findings:\n  accept: {TS-LIF-001: gone, TS-LIF-01: wrong}\n"
    (folder / "accepted.yaml").write_text(said, encoding="utf-8")

    answer = trainshed("lint", "good.yaml", "--findings", "accepted.yaml")

    assert answer.code == 1
    assert "accepted.yaml:2:30: warning TS-FND-001: findings.accept.TS-LIF-01" in answer.out
    assert "accepted.yaml:2:12: info TS-FND-002: findings.accept.TS-LIF-001" in answer.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("findings: {accept: {TS-LIF-001: }}", "accepted.yaml:1", id="no-reason"),
        pytest.param("accept: {TS-LIF-001: because}", "accept: unknown key", id="field"),
        pytest.param("", "is empty", id="empty"),
        pytest.param("findings:", "give it fields (accept, severity)", id="nothing"),
    ],
)
def test_a_wrong_file_of_findings_is_wrong_input(
    trainshed: Command, folder: Path, text: str, words: str
) -> None:
    (folder / "accepted.yaml").write_text(text, encoding="utf-8")

    answer = trainshed("lint", "good.yaml", "--findings", "accepted.yaml")

    assert answer.code == 2
    assert words in answer.err


EKSCTL = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: training, region: us-west-2}
managedNodeGroups: [{name: dl1, instanceType: dl1.24xlarge, maxSize: 4, efaEnabled: true}]
"""


def test_a_cluster_file_for_a_node_group_is_printed_and_nothing_is_judged(
    trainshed: Command, folder: Path
) -> None:
    (folder / "eksctl.yaml").write_text(EKSCTL, encoding="utf-8")

    answer = trainshed("lint", "eksctl.yaml", "--cluster-file", "dl1")

    assert answer.code == 0
    assert "TS-EKS" not in answer.out
    (folder / "dl1.yaml").write_text(answer.out, encoding="utf-8")
    explained = trainshed("explain", "dl1.yaml")
    # Warnings: nobody has access yet, and DL1 is withdrawn. It would be 2 for a wrong file.
    assert (explained.code, explained.err) == (1, "")
    assert "TS-EKS-020" in explained.out
    assert "4 x dl1.24xlarge" in explained.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["eksctl.yaml", "--cluster-file", "dl2"], "has no node group 'dl2'; did you mean dl1?"),
        (["good.yaml", "--cluster-file", "dl1"], "good.yaml is a CloudFormation template"),
        (["eksctl.yaml", "good.yaml", "--cluster-file", "dl1"], "is for one file"),
        (["none.yaml", "--cluster-file", "dl1"], "none.yaml cannot be read"),
        (["eksctl.yaml", "--cluster-file", "dl1", "--json"], "leave one of them out"),
    ],
)
def test_what_has_no_cluster_file_is_wrong_input(
    trainshed: Command, folder: Path, arguments: list[str], words: str
) -> None:
    (folder / "eksctl.yaml").write_text(EKSCTL, encoding="utf-8")

    answer = trainshed("lint", *arguments)

    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
