"""`trainshed explain`: what it prints, of what, and with which exit code."""

import json
import os
import shlex
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

Trainshed = Callable[..., Any]
ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
GOOD = "name: Cluster1\nregion: us-west-2\ninstance: {{type: {}, nodes: {{max: 4}}}}\n"


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("name", ["train", "TrainCluster", "clusters/train.yaml"])
def test_a_cluster_is_named_by_name_file_or_path(trainshed: Trainshed, name: str) -> None:
    answer = trainshed("explain", name, "--json")

    assert (answer.code, answer.err) == (0, "")
    assert answer.json["name"] == "TrainCluster"


def test_it_prints_the_interfaces_with_their_reasons(trainshed: Trainshed) -> None:
    out = trainshed("explain", "train").out

    rows = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in out.splitlines()
        if "│ efa" in line
    ]
    assert [row[:5] for row in rows] == [
        ["0", "0", "efa", "yes", "yes"],
        ["1-7", "0", "efa-only", "no", "no"],
    ]
    assert all(row[5] for row in rows)


def test_it_counts_addresses_and_bandwidth(trainshed: Trainshed) -> None:
    out = trainshed("explain", "train").out

    assert "private addresses: 2 for a node" in out
    assert "32 for the largest cluster" in out
    assert "EFA bandwidth: 800 of 800 Gbps of a node (100 %)" in out


def test_it_prints_each_decision_with_its_reason(trainshed: Trainshed) -> None:
    out = trainshed("explain", "train").out

    assert "the first zone of us-west-2 that offers trn1.32xlarge" in out
    assert "TrainPrerequisites, TrainNetwork, TrainStorage, TrainContainers, TrainCluster" in out


def test_json_has_every_interface(trainshed: Trainshed) -> None:
    explanation = trainshed("explain", "train", "--json").json

    assert len(explanation["interfaces"]) == 8
    assert explanation["interfaces"][0]["kind"] == "efa"
    assert {row["card"]: row["device"] for row in explanation["interfaces"]} == dict.fromkeys(
        range(8), 0
    )
    assert (explanation["addresses_per_node"], explanation["addresses"]) == (2, 32)
    assert {finding["severity"] for finding in explanation["findings"]} == {"info"}


def test_a_withdrawn_type_is_warned_of_first_and_exits_with_1(trainshed: Trainshed) -> None:
    answer = trainshed("explain", "dl1")

    first = answer.out.splitlines()[0]
    assert answer.code == 1
    assert first.startswith("TS-LIF-001 warning: the EC2 API has not listed dl1.24xlarge since ")
    assert first.endswith("it may not launch; use trn1.32xlarge")


def test_without_a_name_it_lists_all_clusters(trainshed: Trainshed) -> None:
    answer = trainshed("explain", "--json")

    assert answer.code == 1
    assert [entry["name"] for entry in answer.json] == ["Dl1Cluster", "P4dCluster", "TrainCluster"]
    assert [entry["findings"] for entry in answer.json] == [
        ["TS-LIF-001", "TS-LUS-001"],
        [],
        [],
    ]


def test_another_folder_can_be_looked_into(trainshed: Trainshed, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD.format("p5.48xlarge"), encoding="utf-8")

    answer = trainshed("explain", "mine", "-c", f"{tmp_path}/*.yaml", "--json")

    assert answer.json["efa"] == {
        "used_gbps": 3200.0,
        "available_gbps": 3200.0,
        "left_out": "",
    }


def test_one_faulty_file_does_not_stop_another_from_being_explained(
    trainshed: Trainshed, tmp_path: Path
) -> None:
    (tmp_path / "bad.yaml").write_text("name: [", encoding="utf-8")
    (tmp_path / "good.yaml").write_text(GOOD.format("p5.48xlarge"), encoding="utf-8")

    assert trainshed("explain", "Cluster1", "-c", f"{tmp_path}/*.yaml").code == 0


def test_the_region_comes_from_the_option_or_the_environment(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.yaml"
    text = GOOD.format("trn1.32xlarge").replace("region: us-west-2\n", "")
    path.write_text(text, encoding="utf-8")

    without = trainshed("explain", str(path))
    by_option = trainshed("explain", str(path), "--region", "us-east-2", "--json")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    by_environment = trainshed("explain", str(path), "--json")

    assert without.code == 2
    assert without.err.startswith(f"error: {path}:1: region: is not given")
    assert by_option.json["place"] == "us-east-2, use2-az3"
    assert by_environment.json["place"] == "us-east-1, use1-az4"


CALENDAR = """
name: Cluster1
region: us-west-2
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 4}}
capacity:
  calendar:
  - {capacity_block: cr-0fedcba9876543210, from: 2126-12-10T11:30Z, until: 2126-12-15T11:30Z}
  - {capacity_block: cr-0123456789abcdef0, from: 2126-12-01T11:30Z, until: 2126-12-08T11:30Z}
"""


def test_a_calendar_is_drawn_as_its_windows_begin(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.yaml").write_text(CALENDAR, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    lines = trainshed("explain", "one.yaml").out.splitlines()
    first, second = trainshed("explain", "one.yaml", "--json").json["calendar"]

    assert "Calendar (UTC)" in "\n".join(lines)
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    assert [row for row in rows if row[0].startswith("cr-")] == [
        [
            "cr-0123456789abcdef0",
            "2126-12-01 11:30",
            "2126-12-08 11:00",
            "2126-12-08 11:30",
            "167.5",
            "",
            "#" * 24 + "." * 24,
        ],
        [
            "cr-0fedcba9876543210",
            "2126-12-10 11:30",
            "2126-12-15 11:00",
            "2126-12-15 11:30",
            "119.5",
            "48.5",
            "." * 31 + "#" * 17,
        ],
    ]
    assert (first["hours_before"], second["hours_before"]) == (None, 48.5)
    assert second["begins"] == "2126-12-10 11:30:00+00:00"


def test_a_cluster_without_a_calendar_draws_none(trainshed: Trainshed) -> None:
    assert "Calendar" not in trainshed("explain", "p4d").out
    assert trainshed("explain", "p4d", "--json").json["calendar"] == []


TRAINING = """
name: Cluster1
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 16}}
storage: {lustre: {capacity_gib: 4800}}
training: {parameters: 70e9, checkpoint_minutes: 20, dataset_gib: 1000}
"""


@pytest.fixture
def explained(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Explain a cluster with a training in a folder without prices of its own."""
    monkeypatch.chdir(tmp_path)

    def explain(text: str, *options: str) -> Any:
        Path("one.yaml").write_text(text, encoding="utf-8")
        return trainshed("explain", "one.yaml", *options)

    return explain


def test_with_a_lifecycle_it_says_from_which_size_on_a_move_saves_money(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = "storage: {bucket: {lifecycle: [{prefix: runs/, glacier_days: 90}]}}\n"
    (tmp_path / "one.yaml").write_text(GOOD.format("trn1.32xlarge") + bucket)
    monkeypatch.chdir(tmp_path)

    unknown = trainshed("explain", "one.yaml").out
    stored = {"unit": "GB-month", "date": "2026-01-02", "source": "a test"}
    prices = {
        "s3-standard": stored | {"usd": 0.023},
        "s3-glacier": stored | {"usd": 0.0036},
        "s3-glacier-moved": stored | {"usd": 0.03, "unit": "1000 requests"},
    }
    (tmp_path / "prices.json").write_text(json.dumps({"us-west-2": prices}))
    known = trainshed("explain", "one.yaml")

    assert "price unknown: s3-standard, s3-glacier, s3-glacier-moved" in unknown
    assert "151 KiB or more" in known.out
    [move] = trainshed("explain", "one.yaml", "--json").json["object_moves"]
    assert (move["to"], move["after_days"], move["stay_days"]) == ("Glacier", 90, 365)


def test_without_training_nothing_is_said_of_checkpoints(trainshed: Trainshed) -> None:
    assert "lost time" not in trainshed("explain", "p4d").out
    assert trainshed("explain", "p4d", "--json").json["checkpoints"] is None


def test_with_training_it_says_how_large_checkpoints_are_and_what_they_take(
    explained: Callable[..., Any],
) -> None:
    lines = explained(TRAINING).out.splitlines()

    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    facts = {row[0]: row[1] for row in rows if len(row) == 2}
    assert facts["size of one"].startswith("980 GB, 14 bytes for each parameter")
    assert facts["with gradients"].startswith("1,120 GB, 16 bytes")
    assert facts["with gradients"].endswith("840 GB, 12 bytes")
    assert facts["to lose 2 %"] == "40,017 MB/s, 2,501 MB/s from each of 16 nodes"
    assert facts["in the background"].endswith("the cluster's 1,171 MB/s are enough")
    # 3,800 GiB are 4,080 GB.
    assert facts["room of 4800 GiB"] == "4,080 GB beside the data set; checkpoints that fit: 4"
    assert [row[1:6] for row in rows if row[0].startswith("this cluster: ")] == [
        ["4800 GiB", "1,171", "837", "41.1", "1,008.00"],
        ["16 x 7600 GB", "unknown", "unknown", "unknown", ""],
    ]
    assert [row[1:6] for row in rows if row[0] == "Lustre persistent-2, 1000 MB/s per TiB"] == [
        ["43200 GiB", "42,187", "23", "1.9", "unknown"]
    ]


@pytest.mark.parametrize(
    ("gib", "room"),
    [
        (2800, "2,147 GB beside the data set; checkpoints that fit: 2"),
        (
            3800,
            "1,074 GB beside the data set; checkpoints that fit: 1, too few: 2 must be there at",
        ),
        (4900, "too little: the data set takes 107 GB more than there are"),
    ],
)
def test_it_says_whether_data_set_and_checkpoints_have_room(
    explained: Callable[..., Any], gib: int, room: str
) -> None:
    assert f"│ {room}" in explained(TRAINING.replace(": 1000}", f": {gib}}}")).out


def test_a_file_system_may_be_too_slow_for_the_background_too(
    explained: Callable[..., Any],
) -> None:
    out = explained(TRAINING.replace("minutes: 20", "minutes: 10")).out

    assert "needs 1,633 MB/s to be done before the next; the cluster's 1,171 MB/s are too" in out


def test_of_storage_that_is_there_already_it_says_who_knows_its_speed(
    explained: Callable[..., Any],
) -> None:
    text = TRAINING.replace("capacity_gib: 4800", "existing: fs-0123456789abcdef0")

    out = explained(text).out

    [row] = [line for line in out.splitlines() if "this cluster: Lustre file system" in line]
    assert "fs-0123456789abcdef0" in row and "trainshed preflight asks AWS" in row
    assert "room of" not in out
    assert "the cheapest that loses less than 2 %" in out


def test_scratch_volumes_are_paid_for_with_the_nodes(
    explained: Callable[..., Any], tmp_path: Path
) -> None:
    text = TRAINING.replace("trn1.32xlarge", "inf1.24xlarge").replace(
        "nodes:", "scratch: {ebs: {gib: 1000, throughput: 2000}}, nodes:"
    )

    answer = explained(text, "--plot", "plot.svg")

    [row] = [line for line in answer.out.splitlines() if "this cluster: scratch volumes" in line]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[1:6] == ["16 x 1000 GiB", "33,554", "29", "2.4", "with the nodes"]
    # There is no price to draw them at.
    words = " ".join(ElementTree.parse(tmp_path / "plot.svg").getroot().itertext())
    assert "scratch volumes" not in words


def test_it_names_the_cheapest_and_the_prices_that_are_not_known(
    explained: Callable[..., Any],
) -> None:
    *_, cheapest, unknown = explained(TRAINING).out.splitlines()

    assert cheapest == (
        "the cheapest that loses less than 2 % and keeps data when a server fails: Lustre "
        "persistent-2, 250 MB/s per TiB, 165600 GiB, 34,776.00 USD a month, of those whose price "
        "is known"
    )
    assert unknown.startswith("price unknown: lustre/persistent-2/125, lustre/persistent-2/500, ")


def test_it_says_when_the_nodes_are_too_few_for_any_storage(explained: Callable[..., Any]) -> None:
    out = explained(TRAINING.replace("max: 16", "max: 1")).out

    assert "none loses less than 2 %: the nodes cannot write faster" in out


def test_prices_of_the_project_count(explained: Callable[..., Any], tmp_path: Path) -> None:
    entry = {"usd": 0.1, "unit": "GB-month", "date": "2026-11-01", "source": "our contract"}
    prices = {"us-west-2": {"lustre/persistent-2/1000": entry}}
    (tmp_path / "prices.json").write_text(json.dumps(prices), encoding="utf-8")

    advice = explained(TRAINING, "--json").json["checkpoints"]

    assert advice["cheapest"]["usd_per_month"] == 4320


def test_a_plot_names_storages_without_a_price(
    explained: Callable[..., Any], tmp_path: Path
) -> None:
    answer = explained(TRAINING, "--plot", "plot.svg")

    words = " ".join(ElementTree.parse(tmp_path / "plot.svg").getroot().itertext())
    assert "picture: plot.svg" in answer.err
    assert "this cluster: Lustre persistent-2, 250 MB/s per TiB" in words
    assert "Lustre persistent-2, 1000 MB/s per TiB: price unknown" in words
    assert "Lustre scratch-2: price unknown" not in words


def test_a_plot_without_any_price_is_refused(explained: Callable[..., Any]) -> None:
    answer = explained(TRAINING.replace("us-west-2", "us-east-2"), "--plot", "plot.svg")

    assert answer.code == 2
    assert "no price of storage in us-east-2 is known; trainshed cost sync asks" in answer.err


def words_of(picture: str) -> str:
    return " ".join(ElementTree.parse(picture).getroot().itertext())


@pytest.mark.parametrize(
    ("day", "said"),
    [("11-30", False), ("12-01", True), ("12-05", True), ("12-15", True), ("12-16", False)],
)
def test_a_plot_of_a_calendar_has_its_windows_the_gap_and_today(
    explained: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, day: str, said: bool
) -> None:
    noon = datetime.fromisoformat(f"2126-{day}T12:00Z")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", f"{noon.timestamp():.0f}")

    answer = explained(CALENDAR, "--plot", "plot.svg")

    words = words_of("plot.svg")
    assert "picture: plot.svg" in answer.err
    assert "up to 4 x trn1.32xlarge" in words
    assert "cr-0123456789abcdef0" in words and "2126-12-01 11:30" in words
    assert "48.5 hours without before" in words
    assert "boot, about 15 minutes" in words and "nodes end" in words
    assert (f"today, 2126-{day}" in words) is said
    assert "accelerators wait" not in words


def test_the_nodes_of_reservations_do_not_end_in_a_plot(explained: Callable[..., Any]) -> None:
    explained(CALENDAR.replace("capacity_block", "reservation"), "--plot", "plot.svg")

    words = words_of("plot.svg")
    assert "168 hours with nodes" in words and "nodes end" not in words


@pytest.mark.parametrize(("region", "drawn"), [("us-west-2", True), ("us-east-2", False)])
def test_a_plot_has_the_calendar_and_what_has_prices(
    explained: Callable[..., Any], region: str, drawn: bool
) -> None:
    text = CALENDAR.replace("us-west-2", region).replace("usw2-az4", f"{region}b")
    training = TRAINING[TRAINING.index("storage") :]

    answer = explained(text + training, "--plot", "plot.svg")

    words = words_of("plot.svg")
    assert "picture: plot.svg" in answer.err
    assert "48.5 hours without before" in words
    assert ("time that accelerators wait" in words) is drawn


def test_the_calendar_of_the_documents_is_what_the_command_draws(
    explained: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1796256000")
    page = (ROOT / "docs/calendar.md").read_text(encoding="utf-8")
    text = page.partition("```yaml\n")[2].partition("```")[0]

    explained(f"name: TrainCluster\nregion: us-west-2\n{text}", "--plot", "calendar.svg")

    assert Path("calendar.svg").read_bytes() == (ROOT / "docs/images/calendar.svg").read_bytes()


def test_the_plot_of_the_documents_is_what_the_command_draws(
    trainshed: Trainshed, tmp_path: Path
) -> None:
    drawn = tmp_path / "checkpoints.svg"

    trainshed("explain", "train", "--plot", str(drawn))

    assert drawn.read_bytes() == (ROOT / "docs" / "images" / drawn.name).read_bytes()


TWICE = "name: {}\nregion: us-west-2\ninstance: {{type: trn1.32xlarge}}\n"


@pytest.mark.parametrize("other", ["AlphaCluster", "Alpha"])
@pytest.mark.parametrize(
    "command",
    [["explain"], ["container", "build"], ["container", "push"], ["container", "list"]],
    ids=" ".join,
)
@pytest.mark.parametrize("named", ["a", "b", "clusters/b.yaml", "AlphaCluster"])
def test_two_clusters_of_one_name_are_refused_by_every_command(
    trainshed: Trainshed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    named: str,
    other: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clusters").mkdir()
    for file, name in (("a", other), ("b", "AlphaCluster"), ("c", "Unrelated")):
        (tmp_path / f"clusters/{file}.yaml").write_text(TWICE.format(name), encoding="utf-8")

    answer = trainshed(*command, named)

    assert answer.code == 2
    assert answer.err.startswith("error: ") and answer.err.count("\n") == 1
    assert "clusters/a.yaml" in answer.err and "clusters/b.yaml" in answer.err


def test_a_file_apart_from_the_others_may_have_the_name_of_one(
    trainshed: Trainshed, tmp_path: Path
) -> None:
    path = tmp_path / "copy.yaml"
    path.write_text((ROOT / "clusters/train.yaml").read_text(), encoding="utf-8")

    assert trainshed("explain", str(path)).code == 0


def test_from_another_directory_the_advice_leads_to_the_clusters(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    lost = trainshed("explain", "train")
    advice = lost.err.rpartition(": ")[2]
    found = trainshed("explain", "train", *shlex.split(advice), "--json")

    assert lost.code == 2
    assert found.json["name"] == "TrainCluster"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["trai"], "cluster 'trai' is not known; did you mean train?"),
        (["trai"], "(known: TrainCluster, "),
        (["nope"], "cluster 'nope' is not known (known: "),
        (["train", "--region", "mars"], "region 'mars' is not known (known: "),
        (["--region", "us-west2"], "region 'us-west2' is not known; did you mean us-west-2?"),
        (["no.yaml"], "no.yaml: cannot be read: no such file or directory"),
        (["train", "-c", "nowhere/*.yaml"], "'nowhere/*.yaml' names no file"),
        (["--svg", "x.svg"], "--svg draws one node: name a cluster"),
        (["train", "--svg", "no/such/folder.svg"], "cannot be written: No such file"),
        (["--plot", "x.svg"], "--plot draws one cluster: name it"),
        (["p4d", "--plot", "x.svg"], "give capacity.calendar or training in clusters/p4d.yaml"),
        (["train", "--plot", "x.pdf"], "x.pdf: a plot is a .png or .svg file; name it so"),
        (["train", "--plot", "no/such/folder.svg"], "cannot be written: No such file"),
        (["train", "--regio", "x"], "no such option: --regio"),
    ],
)
def test_wrong_input_is_reported_in_one_line_with_exit_code_2(
    trainshed: Trainshed, arguments: list[str], words: str
) -> None:
    answer = trainshed("explain", *arguments)

    assert answer.code == 2
    assert words in answer.err.splitlines()[-1]
    assert "Traceback" not in answer.err


def test_what_keeps_a_name_from_being_read_comes_before_the_cluster_that_is_not_known(
    trainshed: Trainshed, tmp_path: Path
) -> None:
    path = tmp_path / "one.yaml"
    path.write_text("name: A\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n")

    answer = trainshed("check", "A", "--clusters", str(path))

    assert answer.code == 2
    first, second = answer.err.splitlines()
    assert first.startswith(f"error: {path}:1: name: 'A' is not allowed; for instance TrainCluster")
    assert second.endswith("cluster 'A' is not known (known: none)")


def test_nodes_that_are_always_there_are_one_number(trainshed: Trainshed, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    instance = "{type: p3.16xlarge, nodes: {min: 8, max: 8}}"
    path.write_text(f"name: Cluster1\nregion: us-west-2\ninstance: {instance}\n")

    said = trainshed("explain", str(path)).out

    assert "8 x p3.16xlarge" in said
    assert "8 to 8" not in said


def test_every_problem_of_a_file_is_a_line_of_the_error(
    trainshed: Trainshed, tmp_path: Path
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(GOOD.format("trn1.32xlarg") + "zone: us-west-2z\n", encoding="utf-8")

    answer = trainshed("explain", str(path))

    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.splitlines()[0].startswith(f"error: {path}:3: instance.type: ")
    assert answer.err.splitlines()[1].startswith(f"{path}:4: zone: 'us-west-2z' is not a zone")


@pytest.mark.parametrize("name", ["p5.48xlarge", "p6-b300.48xlarge", "p5.4xlarge", "trn1.32xlarge"])
def test_the_picture_shows_every_interface_inside_its_frame(
    trainshed: Trainshed, tmp_path: Path, name: str
) -> None:
    path, picture = tmp_path / "c.yaml", tmp_path / "node.svg"
    path.write_text(GOOD.format(name), encoding="utf-8")

    explanation = trainshed("explain", str(path), "--svg", str(picture), "--json").json

    root = ElementTree.parse(picture).getroot()
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    boxes = [box.attrib for box in root.iter(f"{SVG}rect") if "x" in box.attrib]
    slots = [group for group in root.iter(f"{SVG}g") if group.attrib["class"] == "slot"]
    assert len(slots) == len(explanation["interfaces"])
    assert all(float(b["x"]) + float(b["width"]) <= width for b in boxes)
    assert all(float(b["y"]) + float(b["height"]) <= height for b in boxes)
    assert all(float(text.attrib["x"]) < width for text in root.iter(f"{SVG}text"))
    assert "prefers-color-scheme: dark" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["trn1", "p5"])
def test_the_committed_pictures_are_those_of_the_planner(
    trainshed: Trainshed, tmp_path: Path, name: str
) -> None:
    cluster, picture = tmp_path / "c.yaml", tmp_path / "node.svg"
    type_ = {"trn1": "trn1.32xlarge", "p5": "p5.48xlarge"}[name]
    cluster.write_text(GOOD.format(type_), encoding="utf-8")

    trainshed("explain", str(cluster), "--svg", str(picture))

    committed = ROOT / "docs" / "images" / f"interfaces-{name}.svg"
    assert committed.read_text(encoding="utf-8") == picture.read_text(encoding="utf-8")


def test_nothing_of_the_machine_gets_into_the_output(trainshed: Trainshed) -> None:
    out = trainshed("explain", "train").out

    assert os.fspath(ROOT) not in out
