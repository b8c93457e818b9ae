"""How large a checkpoint is, and what its writing takes from training."""

import pytest
from pydantic import ValidationError

from trainshed.checkpoints import Checkpoint, checkpoint_of
from trainshed.documents.yaml import parse_document
from trainshed.spec import TrainingSpec


def checkpoint(text: str) -> Checkpoint:
    return checkpoint_of(TrainingSpec.model_validate(parse_document(text).value))


@pytest.mark.parametrize("written", ["70e9", "70_000_000_000", "70000000000", "7.0e+10"])
def test_parameters_are_a_number_as_yaml_has_them(written: str) -> None:
    assert checkpoint(f"{{parameters: {written}, checkpoint_minutes: 20}}").gb == 980


@pytest.mark.parametrize("written", ["70B", "'70e9'", "true", "0", "-1", ".inf", ".nan", "1e16"])
def test_what_is_no_number_of_parameters_is_refused(written: str) -> None:
    with pytest.raises(ValidationError, match="parameters"):
        checkpoint(f"{{parameters: {written}, checkpoint_minutes: 20}}")


def test_parameters_without_an_interval_are_refused() -> None:
    with pytest.raises(ValidationError, match="checkpoint_minutes"):
        checkpoint("parameters: 70e9")


def test_the_lost_part_is_that_of_training_and_writing_together() -> None:
    found = checkpoint("{parameters: 70e9, checkpoint_minutes: 20}")

    assert found.seconds(1000) == 980
    assert found.lost(1000) == pytest.approx(980 / (1200 + 980))


def test_a_throughput_that_loses_a_part_is_found_from_it_and_an_interval_too() -> None:
    found = checkpoint("{parameters: 70e9, checkpoint_minutes: 20}")

    assert found.lost(found.mbps_for(0.02)) == pytest.approx(0.02)
    minutes = found.minutes_for(1000, 0.1)
    assert checkpoint(f"{{parameters: 70e9, checkpoint_minutes: {minutes}}}").lost(
        1000
    ) == pytest.approx(0.1)


def test_in_the_background_one_is_written_while_the_next_is_trained_for() -> None:
    assert checkpoint("{parameters: 30e9, checkpoint_minutes: 7}").background_mbps == 1000


def test_the_data_set_and_two_checkpoints_must_have_room() -> None:
    found = checkpoint("{parameters: 1e9, checkpoint_minutes: 5, dataset_gib: 1000}")

    assert found.kept_gb == pytest.approx(1073.741824 + 2 * 14)


def test_what_is_written_in_a_month_follows_from_how_long_one_takes() -> None:
    # 14 GB in 100 seconds, each 5 minutes of training: 730 x 3600 / 400 of them.
    found = checkpoint("{parameters: 1e9, checkpoint_minutes: 5}")

    assert found.written_gb_per_month(140) == pytest.approx(14 * 730 * 3600 / 400)


def test_a_data_set_of_less_than_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="dataset_gib"):
        checkpoint("{parameters: 1e9, checkpoint_minutes: 5, dataset_gib: -1}")
