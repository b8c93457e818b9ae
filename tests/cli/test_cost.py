"""`trainshed cost`: what it prints, with which exit code."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from documented import documented
from price_list_service import OFFERS, clients

from trainshed.aws import Region

Trainshed = Callable[..., Any]
ROOT = Path(__file__).parents[2]
LUSTRE = "Lustre persistent-2, 2400 GiB, 500 MB/s per TiB"


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def rows(output: str, start: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in output.splitlines()
        if line.startswith(f"│ {start}")
    ]


def test_a_calendar_has_an_hour_and_no_month(trainshed: Trainshed, tmp_path: Path) -> None:
    window = "capacity_block: cr-01234567, from: 2126-12-01T11:30Z, until: 2126-12-08T11:30Z"
    (tmp_path / "one.yaml").write_text(
        "name: One\nregion: us-west-2\nzone: usw2-az4\ninstance: {type: trn1.32xlarge}\n"
        f"capacity: {{calendar: [{{{window}}}]}}\n"
    )

    shown = trainshed("cost", str(tmp_path / "one.yaml"))
    facts = trainshed("cost", str(tmp_path / "one.yaml"), "--json").json

    assert "idle: 9.59 USD per hour\n" in shown.out
    assert "month of" not in shown.out
    assert (facts["in_windows"], facts["idle_month"], facts["full_month"]) == (True, None, None)


def test_it_shows_components_prices_and_totals(trainshed: Trainshed) -> None:
    answer = trainshed("cost", "train", "--nodes", "8", "--hours", "24")

    assert (answer.code, answer.err) == (0, "")
    cost, price = rows(answer.out, "Lustre persistent-2, 4800 GiB")
    assert cost[1:] == ["1.38", "1.38", "1.38"]
    assert price[1:5] == ["0.21", "GB-month", "us-west-2", "2026-07-15"]
    assert "AmazonFSx" in price[5]
    assert rows(answer.out, "spot")[0][1] == "3.68 to 3.72"
    assert rows(answer.out, "traffic through the NAT gateway")[0][1:] == ["by use"] * 3
    assert "idle: 1.44 USD per hour, 1,048.30 USD per month of 730 hours\n" in answer.out
    assert "full size: 347.30 USD per hour, 253,529.96 USD per month of 730 hours" in answer.out
    assert "run on 8 nodes for 24 hours: 4,184.91 USD\n" in answer.out


def test_an_unknown_price_makes_totals_say_at_least(trainshed: Trainshed) -> None:
    answer = trainshed("cost", "show", "P4dCluster")

    assert answer.code == 0
    cost, price = rows(answer.out, LUSTRE)
    assert cost[1:] == ["unknown", "unknown"]
    assert price[1] == "unknown"
    assert "idle: at least 0.056 USD per hour, at least 40.60 USD per month" in answer.out
    assert f"not counted, price unknown: {LUSTRE}\n" in answer.out


def test_json_has_each_row_with_its_price_and_no_zero_for_what_is_unknown(
    trainshed: Trainshed,
) -> None:
    answer = trainshed("cost", "p4d", "--json")

    cost = json.loads(answer.out)
    (lustre,) = [row for row in cost["rows"] if row["component"] == LUSTRE]
    assert (lustre["price"], lustre["full_usd_per_hour"]) == (None, None)
    (nat,) = [row for row in cost["rows"] if row["component"] == "NAT gateway"]
    assert nat["price"]["usd"] == 0.045
    assert (nat["region"], nat["price"]["date"]) == ("us-west-2", "2026-10-04")
    assert cost["full"]["unknown"] == [LUSTRE]
    # Without the noise of floating point.
    node = 21.957642 + (200 * 0.08 + 40 + 17 * 0.3) / 730
    assert cost["full"]["usd"] == round(8 * node + 0.05 + (17 * 0.3 + 3 + 11 * 0.1) / 730, 6)


def test_the_project_s_own_prices_are_used(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    price = {"usd": 20, "unit": "hour", "date": "2026-11-01", "source": "our contract"}
    own = {"us-west-2": {"on-demand/p4d.24xlarge": price}}
    Path("prices.json").write_text(json.dumps(own), encoding="utf-8")

    answer = trainshed("cost", str(ROOT / "clusters" / "p4d.yaml"))

    cost, listed = rows(answer.out, "instances, on-demand")
    assert cost[2] == "160.00"
    assert listed[1:] == ["20", "hour", "us-west-2", "2026-11-01", "our contract"]


def test_a_block_without_a_price_says_how_to_enter_it(trainshed: Trainshed, tmp_path: Path) -> None:
    text = (ROOT / "clusters" / "p4d.yaml").read_text(encoding="utf-8")
    text = text.replace("us-west-2", "us-east-2")
    block = tmp_path / "block.yaml"
    block.write_text(f"{text}capacity: {{capacity_block: cr-0123456789abcdef0}}\n", "utf-8")

    answer = trainshed("cost", str(block))

    _, price = rows(answer.out, "instances, capacity-block")
    assert (price[1], price[-1]) == ("unknown", "none; enter it into prices.json by hand")
    assert "not counted, price unknown: instances, capacity-block, " in answer.out


def test_the_ways_to_buy_a_node_are_compared(trainshed: Trainshed) -> None:
    answer = trainshed("cost", "train", "--purchase", "all")

    assert (answer.code, answer.err) == (0, "")
    assert len(rows(answer.out, "")) == 21
    (on_demand,) = rows(answer.out, "on-demand")
    (spot,) = rows(answer.out, "spot")
    (year,) = rows(answer.out, "reserved-1y-all-upfront")
    (unknown,) = rows(answer.out, "compute-savings-plan-3y-partial-upfront")
    (block,) = rows(answer.out, "capacity-block")
    assert on_demand[1:5] == ["21.5", "0.00", "15,695.00", "paid by use"]
    assert spot[1:5] == ["3.68 to 3.72", "0.00", "2,686.40 to 2,715.60", "paid by use"]
    assert year[1:7] == ["12.347", "108,160.00", "9,013.33", "419", "us-west-2", "2025-11-30"]
    assert "made from the AWS price list" in year[7]
    assert unknown[1:5] == ["unknown"] * 4
    assert unknown[7] == "none; trainshed cost sync asks for it"
    assert block[1:5] == ["9.532", "all of it", "6,958.36", "324"]
    assert "takes half or more of it upfront" in answer.out


def test_one_way_to_buy_is_shown_alone_and_as_json(trainshed: Trainshed) -> None:
    shown = trainshed("cost", "train", "--purchase", "spot")
    (node,) = json.loads(trainshed("cost", "train", "--purchase", "spot", "--json").out)

    assert [row[0] for row in rows(shown.out, "")] == ["spot"]
    assert "break-even:" not in shown.out
    assert "note: spot: AWS Batch runs no multi-node jobs on Spot\n" in shown.out
    assert (node["purchase"], node["upfront_usd"], node["break_even_hours"]) == ("spot", 0, None)
    assert node["month_usd"] == [2686.4, 2715.6]


def test_what_several_types_cost_is_shown_for_each(trainshed: Trainshed, tmp_path: Path) -> None:
    several = tmp_path / "several.yaml"
    several.write_text(
        "name: ManyCluster\nregion: us-west-2\norchestrator: eks\n"
        "kubernetes: {access: [{role: Op}]}\ninstance: {type: p4d.24xlarge, nodes: {max: 2}}\n"
        "capacity: {instance_types: [p4d.24xlarge, p4de.24xlarge]}\n",
        encoding="utf-8",
    )

    answer = trainshed("cost", str(several), "--hours", "2")
    ways = trainshed("cost", str(several), "--purchase", "on-demand")
    nodes = json.loads(trainshed("cost", str(several), "--purchase", "all", "--json").out)

    totals = dict(
        re.findall(r"^(full size|run on 2 nodes for 2 hours): ([\d,.]+ USD)", answer.out, re.M)
    )
    (first,) = rows(answer.out, "p4d.24xlarge")
    (second,) = rows(answer.out, "p4de.24xlarge")
    assert [first[3], first[5]] == [*totals.values()]
    assert (first[1], second[1]) == ("21.9576", "27.4471")
    assert "Ways to buy a node of p4d.24xlarge" in answer.out
    assert [row[1] for row in rows(ways.out, "on-demand")] == ["21.9576", "27.4471"]
    assert {each["instance_type"] for each in nodes} == {"p4d.24xlarge", "p4de.24xlarge"}


def test_on_spot_an_orchestrator_that_may_use_it_says_what_to_know(
    trainshed: Trainshed, tmp_path: Path
) -> None:
    plain = tmp_path / "plain.yaml"
    plain.write_text(
        "name: PlainCluster\nregion: us-west-2\norchestrator: ec2\ncapacity: {spot: {}}\n"
        "instance: {type: trn1.32xlarge, nodes: {max: 4}}\n",
        encoding="utf-8",
    )

    answer = trainshed("cost", str(plain), "--purchase", "spot")

    assert "note: spot: a job ends when EC2 takes a node back\n" in answer.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "--hours", "1", "--nodes", "17"], "TrainCluster has 1 to 16"),
        (["train", "--nodes", "2"], "say for how many hours"),
        (["trai"], "did you mean train"),
        (["train", "--purchase", "spto"], "--purchase 'spto' is not known; did you mean spot? ("),
        (["dl1", "--purchase", "capacity-block"], "does not sell dl1.24xlarge so (its usage"),
        (["train", "--purchase", "spot", "--hours", "1"], "leave out --nodes and --hours"),
        ([], "missing argument"),
    ],
)
def test_wrong_input_exits_with_2(trainshed: Trainshed, arguments: list[str], words: str) -> None:
    answer = trainshed("cost", *arguments)

    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_sync_without_credentials_says_so(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))

    answer = trainshed("cost", "sync", "--region", "us-west-2", "--output", "none.json")

    assert (answer.code, answer.out) == (2, "")
    assert "no AWS credentials" in answer.err
    assert not Path("none.json").exists()


def test_sync_prints_what_changed_and_what_it_could_not_learn(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    client = clients(OFFERS, (("trn1.32xlarge", "us-west-2d", "3.680000"),))
    monkeypatch.setattr(
        Region, "_from_environment", lambda region, service: client(service, region.name)
    )

    answer = trainshed(*documented("trainshed cost sync --region us-west-2"))
    again = trainshed("cost", "sync", "--region", "us-west-2", "--json")

    assert (answer.code, answer.err) == (0, "asking for us-west-2\n")
    lines = answer.out.splitlines()
    assert "us-west-2 on-demand/trn1.32xlarge: unknown -> 22.5" in lines
    assert "us-west-2 spot/trn1.32xlarge: unknown -> 3.68" in lines
    assert "us-west-2 ecr-stored: not refreshed: the price list has no product that fits" in lines
    count = len(json.loads(Path("prices.json").read_text(encoding="utf-8"))["us-west-2"])
    assert lines[-1] == f"prices.json has us-west-2: {count} changed, 0 same"
    (refreshed,) = json.loads(again.out)
    assert (refreshed["changed"], refreshed["same"]) == ({}, count)
