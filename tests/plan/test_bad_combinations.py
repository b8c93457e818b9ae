"""Ways to buy nodes and to store data that cannot be, each refused in words, with its line."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from trainshed.plan import load_fleet
from trainshed.spec import SpecError

HEAD = "name: TrainCluster\nregion: us-west-2\n"
NODES = "instance: {type: trn1.32xlarge, nodes: {max: 1}}\n"
BAD: list[dict[str, Any]] = YAML(typ="safe").load(
    Path(__file__).with_name("bad_combinations.yaml").read_text()
)


@pytest.mark.parametrize("case", BAD, ids=[case["added"] for case in BAD])
def test_a_bad_combination_is_refused_with_its_line_and_a_reason(
    tmp_path: Path, case: dict[str, Any]
) -> None:
    added, file = case["added"], tmp_path / "a.yaml"
    file.write_text(f"{HEAD}{'' if 'instance:' in added else NODES}{added}")

    with pytest.raises(SpecError) as refused:
        load_fleet([file])

    assert [str(each) for each in refused.value.problems] == [
        f"{file}:{line}" for line in case["said"]
    ]


def test_there_are_more_than_forty_of_them() -> None:
    assert len({case["added"] for case in BAD}) > 40
