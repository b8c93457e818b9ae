"""What a review says to nobody: account ids, secrets, folders of this machine."""

import html
import json
import string
from dataclasses import asdict, replace
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from review_example import DANGEROUS, PLACES, mapped, texts, with_text

from trainshed.review.html import html_report
from trainshed.review.leaves import leaves
from trainshed.review.markdown import markdown_report
from trainshed.review.model import Review
from trainshed.review.redaction import redacted
from trainshed.review.values import Names

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

LETTERS, HEX = string.ascii_letters + string.digits, "0123456789abcdef"


def one_of(alphabet: str, least: int, most: int | None = None) -> st.SearchStrategy[str]:
    """Return texts of these characters."""
    return st.text(alphabet, min_size=least, max_size=most or least)


def after(beginning: str, *rest: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return texts that begin with this."""
    return st.tuples(st.just(beginning), *rest).map("".join)


# In the forms that their services document.
TOKENS = st.one_of(
    after("AKIA", one_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
    # A secret access key: 40 characters in disorder.
    st.permutations("abcdefghijkmnopqrstuABCDEFGHIJKL0123456/").map("".join),
    after("ghp_", one_of(LETTERS, 36)),
    after("glpat-", one_of(LETTERS, 20)),
    after("hf_", one_of(LETTERS, 34)),
    after("nvapi-", one_of(LETTERS, 40, 70)),
    after("AIza", one_of(LETTERS + "_-", 35)),
    after("ya29.", one_of(LETTERS + "_-", 40, 200)),
    after("sk_live_", one_of(LETTERS, 24, 99)),
    after("SG.", one_of(LETTERS + "_-", 22), st.just("."), one_of(LETTERS + "_-", 43)),
    after("dapi", one_of(HEX, 32)),
    after("dckr_pat_", one_of(LETTERS + "_-", 27)),
    after("hvs.", one_of(LETTERS + "_-", 24, 100)),
    after("s.", one_of(LETTERS, 24)),
    after("", one_of(LETTERS + "+/", 86), st.just("==")),
    after("abc8Q~", one_of(LETTERS, 34)),
    # Weights & Biases, and many others.
    one_of(HEX, 40),
)
NAMES = st.sampled_from(
    (
        *("HF_TOKEN", "DB_PASS", "MYSQL_PWD", "ENCRYPTION_KEY", "WANDB_API_KEY", "db-password"),
        *("clientSecret", "MasterUserPassword", "AccountKey", "SSH_PRIVATE_KEY", "x-api-key"),
    )
)
# Where a value stands that its name alone makes a secret.
NAMED = st.sampled_from(
    (
        "{name}={value}",
        "A={name}={value}",
        "export {name}='{value}'",
        "{name}: {value}",
        "{{{name}: {value}}}",
        "{{Name: {name}, Value: {value}}}",
        '{{"{name}": "{value}", "x": 1}}',
        '{{"Name": "{name}", "Value": "{value}"}}',
        '{{\\"{name}\\": \\"{value}\\"}}',
        "--{name}={value}",
        "train --{name} {value} --epochs 3",
        "[train, --{name}, {value}]",
        "docker run -e {name}={value} train:1",
        'sh -c "{name}={value} train"',
    )
)
ADDRESSED = st.sampled_from(
    (
        "https://me:{value}@host/x",
        "postgres://{value}:{value}@db:5432/x",
        "https://x.blob.core.windows.net/c?sv=1&sig={value}",
        "curl -u me:{value} host",
        "Authorization: Bearer {value}",
    )
)
PASSWORDS = after("k", one_of(LETTERS, 15, 30))


@st.composite
def told(draw: st.DrawFn) -> tuple[str, str]:
    """Return a text with a secret, and the secret, which has no word that a report has anyway."""
    kind = draw(st.sampled_from(("token", "named", "addressed")))
    if kind == "token":
        secret = draw(TOKENS)
        around = ("{}", "KEY={}", "of {}, which", '"{}"', "x-{}-y", "({})", "[a, {}]")
        text = draw(st.sampled_from(around)).format(secret)
    else:
        secret = draw(PASSWORDS)
        form = draw(NAMED if kind == "named" else ADDRESSED)
        text = form.format(name=draw(NAMES), value=secret)
    # Hypothesis likes words of the code, `instance` for one.
    assume(not shows(said_anyway() + text.replace(secret, ""), secret))
    return text, secret


@cache
def said_anyway() -> str:
    """Return the reports that have REDACTED in place of a secret."""
    return reports(redacted(with_text(DANGEROUS, 0, "HF_TOKEN=k000000000000000")))


def shows(text: str, secret: str) -> bool:
    """Return whether a text has some of a secret."""
    return any(secret[start : start + 8] in text for start in range(4, len(secret) - 8))


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


@given(told())
def test_no_part_of_a_generated_secret_stays(case: tuple[str, str]) -> None:
    text, secret = case

    assert not shows(said(text), secret)


@given(place=st.integers(0, len(PLACES) - 1), case=told())
def test_no_generated_secret_reaches_a_report(place: int, case: tuple[str, str]) -> None:
    text, secret = case

    review = redacted(with_text(DANGEROUS, place, text))

    # Markdown has a backslash before some characters.
    assert not shows(reports(review).replace("\\", ""), secret)


@given(case=told(), before=st.integers(0, 140))
def test_text_is_redacted_before_it_is_cut(case: tuple[str, str], before: int) -> None:
    text, secret = case
    assume("b" * 8 not in secret)
    value = f"{'b' * before} {text}"
    places: list[Any] = [
        value,
        {"Fn::Sub": value},
        {"Fn::Join": [" ", ["#!/bin/sh", value]]},
        {"Command": ["sh", "-c", value]},
        [{"Value": value}, "x"],
    ]

    for place in places:
        for change in leaves("Metadata", None, place, Names(resources={}, exports={}, region="x")):
            assert not shows(change.after or "", secret)
        for change in leaves("Outputs", [], [place], Names(resources={}, exports={}, region="x")):
            assert not shows(change.after or "", secret)


def test_an_account_id_is_not_cut_in_half() -> None:
    value = "b" * 110 + f" {ACCOUNT}"

    [change] = leaves("Name", None, value, Names(resources={}, exports={}, region="x"))

    assert not shows(change.after or "", ACCOUNT)
    assert "4829" not in (change.after or "")


def test_elements_that_differ_in_a_secret_alone_are_still_told() -> None:
    called = Names(resources={}, exports={}, region="x")
    before, after = ["DB_PASS=hunter2", "x"], ["DB_PASS=hunter3"]

    changes = [(each.before, each.after) for each in leaves("Command", before, after, called)]

    assert changes == [("DB_PASS=REDACTED", None), ("x", None), (None, "DB_PASS=REDACTED")]


@given(
    token=TOKENS,
    unseen=st.sampled_from(
        "\u200b\u200d\u00ad\u2060\ufeff\u034f\u180e\ufe0f\u202e\U000e0041\x00\x1b"
    ),
    position=st.integers(1, 20),
)
def test_characters_that_nobody_sees_hide_no_secret(token: str, unseen: str, position: int) -> None:
    text = said(f"of {token[:position]}{unseen}{token[position:]}, which")

    assert text == said(f"of {token}, which")
    assert not shows(text, token)


def test_the_end_of_a_private_key_is_redacted_without_its_beginning() -> None:
    # Of what an app says, the last lines are told.
    lines = ["MIIEpAIBAAKCAQEA7bq4Wk1c", "q4Wk1cMIIEpAIBAAKCAQEA7b", "k1cMII=="]
    end = "-----END RSA PRIVATE " + "KEY-----"

    assert said("\n".join(["it failed", *lines, end])) == "it failed\nREDACTED"


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
        ('password="two words, and; more" x', 'password="REDACTED" x'),
        ("DB_PASS=a,b then", "DB_PASS=REDACTED then"),
        ("https://me:p@ss@host/x", "https://REDACTED@host/x"),
        ("machine api.wandb.ai password 5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80",
         "machine api.wandb.ai password REDACTED"),
        ('{"Name": "A", "Value": "x", "Password": "y"}',
         '{"Name": "A", "Value": "x", "Password": "REDACTED"}'),
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
        "commit 5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80",
        "registry.example/train:5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80",
        "actions/checkout@5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80",
        "AWS::SecretsManager::Secret",
        "com.amazonaws.us-west-2.secretsmanager: SecretsManager/Endpoint",
        "{{resolve:secretsmanager:db:SecretString:password}}",
        "MasterUserSecret: ${Secret}, PASSWORD_FILE=/run/secrets/db, TOKEN_TYPE: jwt1234",
        "PWD=/home/ec2-user, KmsKeyId: alias/train, Key: Name, S3Key: code.zip, PublicKey=x",
        "give HF_TOKEN: a variable looks like a secret; use --name to name one",
        "ssh://git@github.com/us/training and ec2-user@host",
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


ID = one_of(HEX, 17)


@given(
    st.one_of(
        after("asset.", one_of(HEX, 64), st.just(".zip")),
        after("train@sha256:", one_of(HEX, 64)),
        after("registry.example/train:", one_of(HEX, 40)),
        after("commit ", one_of(HEX, 40)),
        after("arn:aws:iam::aws:policy/", one_of(string.ascii_letters, 5, 60)),
        after("arn:aws:s3:::", one_of(string.ascii_lowercase + string.digits + "-", 3, 39)),
        st.sampled_from(("ami-", "sg-", "subnet-", "vpc-", "lt-", "i-", "cr-")).flatmap(
            lambda kind: after(kind, ID)
        ),
        after("TrainClusterBatchEnvironment", one_of("0123456789ABCDEF", 8)),
        after("TrainCluster/", one_of(string.ascii_letters + "/", 1, 30)),
        after("AWS::SecretsManager::", one_of(string.ascii_letters, 1, 30)),
    ),
    st.sampled_from(("{}", "of {}, which", "{} -> {}", "{{Image: {}}}")),
)
def test_ordinary_content_stays_readable(text: str, around: str) -> None:
    shown = around.format(text, text)

    assert said(shown) == shown


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
