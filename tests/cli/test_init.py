"""`trainshed init`: what it asks, what it writes, and what it refuses."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from trainshed import __version__
from trainshed.catalogue import all_types, regions_offering
from trainshed.errors import TrainshedError
from trainshed.plan import load_fleet
from trainshed.project.choices import Choices, plan_choices

Command = Callable[..., Any]
ROOT = Path(__file__).parents[2]
TRN1 = ("--type", "trn1.32xlarge", "--region", "us-west-2")


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def project(trainshed: Command, tmp_path: Path) -> Path:
    """A project with nothing chosen but what has to be."""
    answer = trainshed("init", str(tmp_path / "mine"), *TRN1)
    assert answer.code == 0, answer.err
    return tmp_path / "mine"


def test_it_lists_what_it_wrote_and_says_what_is_next(trainshed: Command, tmp_path: Path) -> None:
    answer = trainshed("init", str(tmp_path / "mine"), *TRN1)

    assert {str(tmp_path / "mine" / name) for name in files(tmp_path / "mine")} == set(
        answer.out.splitlines()
    )
    assert "clusters/train.yaml" in files(tmp_path / "mine")
    assert f"  cd {tmp_path / 'mine'}\n" in answer.err


def test_every_choice_is_in_the_cluster(trainshed: Command, tmp_path: Path) -> None:
    words = ("--name", "BigLlamaCluster", "--nodes", "8", "--storage")
    block = "capacity-block=cr-0123456789abcdef0"

    answer = trainshed(
        *("init", str(tmp_path), "--type", "p5.48xlarge", "--region", "us-east-1"),
        *(*words, "--capacity", block),
    )

    assert answer.code == 0, answer.err
    [cluster] = load_fleet([tmp_path / "clusters/big-llama.yaml"]).clusters
    assert (cluster.name, cluster.region) == ("BigLlamaCluster", "us-east-1")
    assert (cluster.instance.name, cluster.nodes.max) == ("p5.48xlarge", 8)
    assert cluster.capacity.reservation_id == "cr-0123456789abcdef0"
    assert cluster.lustre is not None


def test_nothing_is_overwritten(trainshed: Command, project: Path) -> None:
    for name in files(project) - {"app.py", "clusters/train.yaml"}:
        (project / name).unlink()
    (project / "app.py").write_text("mine")

    answer = trainshed("init", str(project), *TRN1)

    assert answer.code == 2
    assert f"{project} has app.py, clusters/train.yaml already; nothing was written" in answer.err
    assert files(project) == {"app.py", "clusters/train.yaml"}
    assert (project / "app.py").read_text() == "mine"


def test_nothing_is_written_through_a_dangling_symlink(trainshed: Command, tmp_path: Path) -> None:
    project = tmp_path / "mine"
    project.mkdir()
    (project / "README.md").symlink_to(tmp_path / "elsewhere")
    (project / "clusters").symlink_to(tmp_path / "nowhere")

    answer = trainshed("init", str(project), *TRN1)

    assert answer.code == 2
    assert f"{project} has README.md, clusters already; nothing was written" in answer.err
    assert not files(tmp_path)


def test_nothing_is_written_through_a_link_to_a_folder(trainshed: Command, tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "mine", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    (project / "clusters").symlink_to(elsewhere)

    answer = trainshed("init", str(project), *TRN1)

    assert answer.code == 2
    assert f"{project} has clusters already; nothing was written" in answer.err
    assert not files(tmp_path)


def test_nothing_is_written_when_a_file_is_where_a_folder_is_needed(
    trainshed: Command, tmp_path: Path
) -> None:
    (tmp_path / "tests").write_text("mine")

    answer = trainshed("init", str(tmp_path), *TRN1)

    assert answer.code == 2
    assert f"{tmp_path} has tests already; nothing was written" in answer.err
    assert files(tmp_path) == {"tests"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--type", "trn1.32xl"], "--type: .*did you mean trn1.32xlarge", id="type"),
        pytest.param(["--type", "a", "--type", "b"], r"--type: given 2 times \(a, b\)", id="twice"),
        pytest.param(["--region", "us-wset-2"], "--region: .*us-west-2", id="region"),
        pytest.param(["--region", "eu-south-1"], "--.*trn1.32xlarge.*us-west-2", id="not-there"),
        pytest.param(["--type", "trn1.2xlarge", "--nodes", "4"], "--type: .*no EFA", id="efa"),
        pytest.param(["--nodes", "0"], "--nodes: ", id="nodes"),
        pytest.param(["--name", "a: b"], "--name: ", id="name"),
        pytest.param(["--capacity", "spot"], "--capacity: 'spot' is not on-demand", id="spot"),
        pytest.param(["--capacity", "reservation=x"], "--capacity: ", id="reservation"),
    ],
)
def test_wrong_choices_are_named_by_their_option(
    trainshed: Command, tmp_path: Path, words: list[str], message: str
) -> None:
    defaults = [] if "--type" in words else TRN1[:2]

    answer = trainshed("init", str(tmp_path / "mine"), *defaults, *TRN1[2:], *words)

    assert answer.code == 2
    assert re.match(f"error: {message}", answer.err), answer.err
    assert not (tmp_path / "mine").exists()


def test_a_withdrawn_type_is_reported(trainshed: Command, tmp_path: Path) -> None:
    answer = trainshed("init", str(tmp_path), "--type", "dl1.24xlarge", "--region", "us-west-2")

    assert answer.code == 0
    assert "TS-LIF-001" in answer.err
    assert " info: " not in answer.err


@pytest.mark.parametrize("instance_type", all_types())
def test_for_every_type_there_is_a_project_or_a_reason(instance_type: str) -> None:
    [region, *_] = regions_offering(instance_type)
    choices = Choices(
        name="TrainCluster",
        region=region,
        instance_type=instance_type,
        nodes=1,
        storage=True,
        capacity="on-demand",
    )

    try:
        plan = plan_choices(choices)
    except TrainshedError as error:
        assert str(error).startswith("--type: ")
    else:
        assert plan.instance.name == instance_type


def test_a_folder_that_cannot_be_made_is_an_error(trainshed: Command, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    answer = trainshed("init", str(tmp_path / "file"), *TRN1)

    assert answer.code == 2
    assert f"error: {tmp_path}/file" in answer.err


@pytest.mark.parametrize("closed", [False, True])
def test_without_a_type_and_a_terminal_it_says_which_option_to_give(
    trainshed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    if closed:
        monkeypatch.setattr(sys, "stdin", None)

    answer = trainshed("init", str(tmp_path / "mine"))

    assert answer.code == 2
    assert "give --type" in answer.err


def test_an_empty_folder_name_is_refused(
    trainshed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    answer = trainshed("init", "", *TRN1)

    assert answer.code == 2
    assert "DIR: it is empty" in answer.err
    assert not files(tmp_path)


def test_without_a_region_it_says_which_option_to_give(trainshed: Command, tmp_path: Path) -> None:
    answer = trainshed("init", str(tmp_path / "mine"), "--type", "trn1.32xlarge")

    assert answer.code == 2
    assert "--region: not given" in answer.err


def test_the_folder_in_the_next_steps_is_quoted(trainshed: Command, tmp_path: Path) -> None:
    answer = trainshed("init", str(tmp_path / "my dir"), *TRN1)

    assert f"  cd '{tmp_path / 'my dir'}'\n" in answer.err


def type_answers(folder: Path, *answers: str, options: Sequence[str] = ()) -> str:
    """Run init in a folder of a terminal in which somebody types, and return what it asked."""
    keyboard, terminal = os.openpty()
    # Who asks for more gets the end of the input (Ctrl-D), and does not wait for ever.
    os.write(keyboard, "".join(f"{answer}\n" for answer in (*answers, "\x04")).encode())
    done = subprocess.run(
        [sys.executable, "-m", "trainshed.cli", "init", *options],
        cwd=folder,
        stdin=terminal,
        capture_output=True,
        text=True,
    )
    os.close(terminal)
    os.close(keyboard)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_in_a_terminal_it_asks_again_until_folder_type_and_region_are_known(
    tmp_path: Path, project: Path
) -> None:
    answers = ["trn1.32xl", "trn1.32xlarge", "mars", "us-east-1", "MyCluster", "4", "y", ""]

    asked = type_answers(tmp_path, project.name, "other", *answers)

    assert "mine has cdk.json already" in asked
    assert "did you mean trn1.32xlarge?" in asked
    assert "region 'mars' is not known" in asked
    [cluster] = load_fleet([tmp_path / "other/clusters/my.yaml"]).clusters
    assert (cluster.region, cluster.nodes.max) == ("us-east-1", 4)
    assert cluster.lustre is not None


def test_nodes_that_are_no_number_are_asked_for_again(tmp_path: Path) -> None:
    wrong = ["two", "2.5", "-1"]

    asked = type_answers(tmp_path, "", "", "", *wrong, "3", "", "", options=["mine"])

    for answer in wrong:
        assert f"'{answer}' is not a number of nodes; write it in digits, for instance 2\n" in asked
    assert asked.count("largest number of nodes") == 4
    [cluster] = load_fleet([tmp_path / "mine/clusters/train.yaml"]).clusters
    assert cluster.nodes.max == 3


def test_choices_that_contradict_each_other_are_asked_for_again(tmp_path: Path) -> None:
    first, second = ["trn1.2xlarge", "us-west-2", "", "4", "", ""], ["", "", "", "1", "", ""]

    asked = type_answers(tmp_path, *first, *second, options=["mine"])

    assert "largest number of nodes [1]:" in asked
    assert "no EFA" in asked and "answer again" in asked
    [cluster] = load_fleet([tmp_path / "mine/clusters/train.yaml"]).clusters
    assert (cluster.instance.name, cluster.nodes.max) == ("trn1.2xlarge", 1)


def test_options_are_the_defaults_of_the_questions(tmp_path: Path) -> None:
    options = ["mine", "--nodes", "5", "--region", "us-west-2", "--name", "Other"]

    type_answers(tmp_path, *[""] * 6, options=options)

    [cluster] = load_fleet([tmp_path / "mine/clusters/other.yaml"]).clusters
    assert (cluster.name, cluster.nodes.max) == ("Other", 5)


def test_the_requirements_name_all_that_is_needed_at_the_tested_versions(project: Path) -> None:
    lines = (project / "requirements.txt").read_text().splitlines()
    given = [Requirement(line) for line in lines if line and not line.startswith("#")]
    pinned = {
        canonicalize_name(each.name): each
        for each in given
        if each.marker is None or each.marker.evaluate()
    }

    pending = [pinned[canonicalize_name(name)] for name in ("trainshed", "pytest")]
    assert str(pending[0].specifier) == f"=={__version__}"
    seen = set()
    while pending:
        one = pending.pop()
        name = canonicalize_name(one.name)
        assert name in pinned, f"{name} is needed and not pinned"
        assert version(name) in pinned[name].specifier
        if (name, frozenset(one.extras)) in seen:
            continue
        seen.add((name, frozenset(one.extras)))
        for text in distribution(name).requires or ():
            needed = Requirement(text)
            extras = one.extras or {""}
            if not needed.marker or any(needed.marker.evaluate({"extra": e}) for e in extras):
                pending.append(needed)
    assert {"networkx", "distro2sbom", "pluggy"} <= {name for name, _ in seen}
    # One package may be locked at another version for another Python.
    lock = (ROOT / "requirements/runtime.txt").read_text()
    assert [line for line in lock.splitlines() if line.startswith("networkx==")] == [
        f"{line} \\" for line in lines if line.startswith("networkx==")
    ]


def test_node_packages_and_feature_flags_are_ours(project: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        assert (project / name).read_bytes() == (ROOT / name).read_bytes()
    ours, theirs = (json.loads((folder / "cdk.json").read_text()) for folder in (ROOT, project))
    assert theirs["context"] == ours["context"]


def test_editors_find_the_schema_from_the_cluster(project: Path) -> None:
    first = (project / "clusters/train.yaml").read_text().splitlines()[0]

    schema = project / "clusters" / first.removeprefix("# yaml-language-server: $schema=")

    assert schema.read_text() == (ROOT / "docs/cluster.schema.json").read_text()


def test_with_packer_its_copies_are_what_commands_take(
    trainshed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert trainshed("init", *TRN1, "--with-packer").code == 0
    pins = json.loads(Path("packer/pins.json").read_text())
    pins["components"]["efa-installer"]["version"] = "99.0.0"
    Path("packer/pins.json").write_text(json.dumps(pins))

    rows = trainshed("ami", "pins", "--json").json

    assert {"pin": "efa-installer", "version": "99.0.0"} in rows
    assert os.access("packer/files/opt/trainshed/pin", os.X_OK)
    assert Path("containers/shared/install").is_file()
    assert not [*tmp_path.rglob("__pycache__")]
    again = trainshed("init", "--name", "Other", *TRN1, "--with-packer")
    assert "packer, containers already" in again.err


def test_no_placeholder_is_left(project: Path) -> None:
    for name in files(project):
        assert "$cluster" not in (project / name).read_text()
