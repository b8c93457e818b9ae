"""What a review says to nobody: account ids, secrets, folders of this machine."""

import html
import json
from dataclasses import asdict, replace
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_example import DANGEROUS, PLACES, mapped, texts, with_text

from trainshed.review.html import html_report
from trainshed.review.markdown import markdown_report
from trainshed.review.model import Review
from trainshed.review.redaction import redacted

ACCOUNT = "482913570624"
# Made up, in the forms that their services document. In halves, so that no scanner takes them for
# real ones.
SECRETS = (
    ACCOUNT,
    "AKIA" + "QYLPMN5HHHFPZAM2",
    "ASIA" + "QYLPMN5HHHFPZAM2",
    "AROA" + "QYLPMN5HHHFPZAM2",
    "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYzR4pLk9Qs2",
    "IQoJb3JpZ2luX2VjE" + "Jz/+w9aCXVzLXdlc3QtMiJHMEUCIQD" * 4,
    "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5",
    "github_pat_" + "11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789",
    "glpat-" + "xY3zW5vU7tS9rQ1pO3nM",
    "xoxb-" + "2345678901-abcdefghijkl",
    "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
    "wandb_v1_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ",
    "nvapi-" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123",
    "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJlLWhlcmU",
    "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----",
)


def said(text: str) -> str:
    """Return a message as it stands in a redacted review."""
    return redacted(replace(DANGEROUS, notes=(text,))).notes[0]


@given(
    place=st.integers(0, len(PLACES) - 1),
    secret=st.sampled_from(SECRETS),
    around=st.sampled_from(("{}", "{} ", "of {}, which", '"{}"', "a:{}:b", "x-{}-y", "({})")),
)
def test_no_secret_stays_in_any_text(place: int, secret: str, around: str) -> None:
    review = redacted(with_text(DANGEROUS, place, around.format(secret)))

    assert not [text for text in texts(review) if secret in text]


@pytest.mark.parametrize("rotation", range(0, len(SECRETS), 5))
def test_no_secret_reaches_a_report(rotation: int) -> None:
    # Each text has another secret.
    planted = cycle((*SECRETS[rotation:], *SECRETS[:rotation]))
    review = mapped(DANGEROUS, lambda _: next(planted))
    before, after = reports(review), reports(redacted(review))

    for secret in SECRETS:
        line = " ".join(secret.split())
        assert line in before
        assert line not in after


def reports(review: Review) -> str:
    """Return all forms of a report, in which line breaks are spaces."""
    forms = (
        markdown_report(review, 1_000_000),
        html.unescape(html_report(review)),
        json.dumps(asdict(review), ensure_ascii=False).replace("\\n", " "),
    )
    return "\n".join(forms)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"arn:aws:iam::{ACCOUNT}:role/train", "arn:aws:iam::ACCOUNT:role/train"),
        (
            f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/train:1",
            "ACCOUNT.dkr.ecr.us-west-2.amazonaws.com/train:1",
        ),
        (f"Account: {ACCOUNT}", "Account: ACCOUNT"),
        ("Account ID: 4829-1357-0624", "Account ID: ACCOUNT"),
        (f"cdk-hnb659fds-assets-{ACCOUNT}-us-west-2", "cdk-hnb659fds-assets-ACCOUNT-us-west-2"),
        (f"arn%3Aaws%3Aiam%3A%3A{ACCOUNT}%3Aroot", "arn%3Aaws%3Aiam%3A%3AACCOUNT%3Aroot"),
        ("password=hunter2, then", "password=REDACTED, then"),
        ('{"Password": "hunter2"}', '{"Password": "REDACTED"}'),
        ('{\\"DB_PASSWORD\\": \\"hunter2\\"}', '{\\"DB_PASSWORD\\": \\"REDACTED\\"}'),
        ("{HF_TOKEN: swordfish}", "{HF_TOKEN: REDACTED}"),
        (
            '{"Name": "WANDB_API_KEY", "Value": "0a1b2c3d"}',
            '{"Name": "WANDB_API_KEY", "Value": "REDACTED"}',
        ),
        ("https://me:hunter2@host/x", "https://REDACTED@host/x"),
        ("Authorization: Bearer abcdefghij0123456789", "Authorization: Bearer REDACTED"),
        ("https://hooks.slack.com/services/T0/B0/x1", "https://hooks.slack.com/services/REDACTED"),
        ("https://b.s3.amazonaws.com/k?X-Amz-Signature=ab12&y=1",
         "https://b.s3.amazonaws.com/k?X-Amz-Signature=REDACTED&y=1"),
        ("File /home/jane/project/app.py", "File ~/project/app.py"),
        ("File /Users/jane/project/app.py", "File ~/project/app.py"),
    ],
)  # fmt: skip
def test_what_stands_for_a_secret(text: str, expected: str) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "TrainCluster/Batch/Environment",
        "arn:aws:iam::aws:policy/service-role/AWSBatchServiceRole",
        "arn:aws:s3:::data/*",
        "ami-0123456789012345a",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "train@sha256:1234567890121234567890121234567890121234567890121234567890121234",
        "origin/main (1a2b3c4)",
        "5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80",
        "NetworkDefaultGroupRulesFunctionC3576178",
        "TrainCluster/Compute/LaunchTemplate/Res1",
        "4,800 GiB, 1099511627776 bytes, 0.123456789012",
        "1 to 65535, 2048 vCPU, 10.20.0.0/19",
        "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended",
        "20261123T073000Z",
        "HttpTokens: required",
        '{"HttpTokens": "required", "SecretArn": "x", "TOKENIZERS_PARALLELISM": "false"}',
        "password: ${Secret}",
        "https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html",
        "ec2-user@host reads /home/ec2-user/.ssh and /opt/trainshed/lib",
    ],
)
def test_ordinary_texts_stay(text: str) -> None:
    assert said(text) == text


def test_an_ordinary_review_stays() -> None:
    assert redacted(DANGEROUS) == DANGEROUS


def test_folders_of_this_machine_become_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(home))

    text = said(f'File "{project}/app.py", in {project}; {home}/.cache/x; {project}-2/app.py')

    assert text == f'File "app.py", in .; ~/.cache/x; {project}-2/app.py'
