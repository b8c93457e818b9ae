"""Which kernel a boot loader would choose."""

from pathlib import Path

import pytest

from embedded_aws.guests.kernel import chosen_kernel


@pytest.mark.parametrize(
    ("releases", "newest"),
    [
        pytest.param(["6.8.0-9-aws", "6.8.0-1063-aws"], "6.8.0-1063-aws", id="numbers"),
        pytest.param(["5.15.0-1084-aws", "6.8.0-1001-aws"], "6.8.0-1001-aws", id="first-number"),
        pytest.param(
            ["6.18.51-120.163.amzn2023.x86_64", "6.18.51-99.170.amzn2023.x86_64"],
            "6.18.51-120.163.amzn2023.x86_64",
            id="amazon",
        ),
    ],
)
def test_the_newest_is_chosen_by_numbers(tmp_path: Path, releases: list[str], newest: str) -> None:
    for release in releases:
        (tmp_path / f"vmlinuz-{release}").touch()
        (tmp_path / f"initrd.img-{release}").touch()

    assert chosen_kernel(tmp_path) == newest


def test_without_any_nothing_is_chosen(tmp_path: Path) -> None:
    (tmp_path / "vmlinuz-9.9.9-removed").symlink_to("not-there")

    assert chosen_kernel(tmp_path) is None
