"""The template for Packer before 1.7: what is left out, and nothing else."""

from pathlib import Path

import pytest

from trainshed.ami.packer_compat import needs_compatible_copy, write_compatible
from trainshed.errors import TrainshedError

FENCED = """source "amazon-ebs" "ami" {
  region = "us-west-2"
  # compat:begin packer>=1.7
  imds_support = "v2.0"
  # compat:end
  spot_price = "auto"
}
"""


@pytest.fixture
def template(tmp_path: Path) -> Path:
    folder = tmp_path / "template"
    (folder / "scripts").mkdir(parents=True)
    (folder / "scripts" / "10-base.sh").write_text("true\n")
    (folder / "pins.json").write_text("{}\n")
    (folder / "plugins.pkr.hcl").write_text("packer {}\n")
    (folder / "source.pkr.hcl").write_text(FENCED)
    return folder


def test_lines_between_the_marks_are_left_out_and_no_others(template: Path, tmp_path: Path) -> None:
    write_compatible(template, tmp_path / "compatible")

    assert (tmp_path / "compatible" / "source.pkr.hcl").read_text() == (
        'source "amazon-ebs" "ami" {\n  region = "us-west-2"\n  spot_price = "auto"\n}\n'
    )


def test_the_block_that_names_plugins_is_left_out(template: Path, tmp_path: Path) -> None:
    write_compatible(template, tmp_path / "compatible")

    assert not (tmp_path / "compatible" / "plugins.pkr.hcl").exists()


def test_everything_that_is_no_template_is_the_very_file(template: Path, tmp_path: Path) -> None:
    write_compatible(template, tmp_path / "compatible")

    assert (tmp_path / "compatible" / "pins.json").samefile(template / "pins.json")
    assert (tmp_path / "compatible" / "scripts").samefile(template / "scripts")


def test_the_template_stays_as_it_was(template: Path, tmp_path: Path) -> None:
    write_compatible(template, tmp_path / "compatible")

    assert (template / "source.pkr.hcl").read_text() == FENCED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("# compat:begin packer>=1.7\na = 1\n", "source.pkr.hcl:1: .*never", id="open"),
        pytest.param("a = 1\n# compat:end\n", "source.pkr.hcl:2: .*none is", id="end-alone"),
        pytest.param(
            "# compat:begin packer>=1.7\n# compat:begin packer>=1.7\n# compat:end\n",
            "source.pkr.hcl:2: .*line 1 is still open",
            id="twice",
        ),
        pytest.param("# compat:begin\na = 1\n# compat:end\n", "1: .*not a mark", id="misspelt"),
    ],
)
def test_marks_that_do_not_match_are_refused_with_their_line(
    template: Path, tmp_path: Path, text: str, message: str
) -> None:
    (template / "source.pkr.hcl").write_text(text)

    with pytest.raises(TrainshedError, match=message):
        write_compatible(template, tmp_path / "compatible")
    assert not (tmp_path / "compatible").exists()


@pytest.mark.parametrize(
    ("version", "needed"),
    [((1, 6, 6), True), ((1, 7, 0), False), ((1, 16, 0), False), ((2, 0, 0), False)],
)
def test_only_packer_before_1_7_needs_it(version: tuple[int, int, int], needed: bool) -> None:
    assert needs_compatible_copy(version) is needed
