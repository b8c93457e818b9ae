"""Leave out of a review what nobody outside the account and this machine should read.

The patterns are ours. detect-secrets 1.5.0, the library for it, is of May 2024: it knows neither
account ids nor the tokens of Hugging Face, Weights & Biases or NGC, it takes digests and names of
resources for secrets by their entropy, and it needs two more libraries.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from trainshed.review.model import Review

ACCOUNT = "ACCOUNT"
REDACTED = "REDACTED"
T = TypeVar("T")

# Long hexadecimal numbers are ids and digests, which may have twelve digits in a row.
_ACCOUNT_ID = re.compile(
    r"(?P<digest>[0-9A-Fa-f]{17,})|(?<!\d)(?<!\d\.)\d{12}(?!\d)|(?<![\w-])\d{4}-\d{4}-\d{4}(?![\w-])"
)
_TOKENS = re.compile(
    "|".join(
        (
            # AWS: access keys and the ids of principals; the beginning of a session's token.
            r"(?<![A-Za-z0-9])A(?:KIA|SIA|BIA|CCA|GPA|IDA|IPA|NPA|NVA|PKA|ROA|SCA)[A-Z0-9]{16}",
            r"(?:IQoJ|FwoG|FQoG|AQoD)[A-Za-z0-9/+=]{60,}",
            # GitHub, GitLab, Slack
            r"gh[pousr]_\w{20,}|github_pat_\w{20,}",
            r"gl(?:pat|oas|dt|rt|cbt|ptt|ft|soat|imt|agent|ffct)-[\w.-]{16,}",
            r"xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|(?<=hooks\.slack\.com/services/)[\w/]+",
            # Hugging Face, Weights & Biases, NGC, OpenAI and Anthropic, PyPI, npm
            r"hf_[A-Za-z0-9]{20,}|api_org_[A-Za-z0-9]{20,}|wandb_v\d_\w{20,}",
            r"nvapi-[\w-]{20,}|(?<![\w-])sk-[\w-]{20,}|pypi-[\w-]{20,}|npm_[A-Za-z0-9]{20,}",
            # JSON Web Tokens, private keys, passwords in addresses
            r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
            r"(?<=://)[^/\s:@\"']*:[^/\s@\"']+(?=@)",
            r"(?<=Bearer )[\w.~+/=-]{16,}",
        )
    )
)
# Not what tells where a secret is, or of what kind: `TOKEN_FILE`, `SecretArn`, `TOKENIZERS`.
_SECRET_NAME = (
    r"(?:pass(?:word|wd|phrase)|secret[_-]?access[_-]?key|(?<![a-z])secret|(?:api|private)[_-]?key"
    r"|(?:access|auth|session|security|hub|hf|github|gitlab|slack)[_-]?token|(?<![a-z])token"
    r"|x-amz-(?:signature|credential))"
    r"(?!izer|[\w-]*?(?:file|arn|path|name|id|type|url|length)(?![a-z]))[\w-]*"
)
# Not a reference either: an ARN, a path, a substitution, a dynamic reference of CloudFormation.
_NO_SECRET = (
    r"(?!arn:|/\w+/|\$?\{|\[|(?:true|false|null|none|required|optional|REDACTED|\d{1,5})(?!\w))"
)
# `password=x`, `"Password": "x"`, and `"Name": "WANDB_API_KEY", "Value": "x"`.
_ASSIGNED = re.compile(
    r"(?P<reference>\{\{resolve:[^}]*\}\})|"
    rf"(?P<name>{_SECRET_NAME}(?:\\?[\"'])?\s*"
    r"(?:=|:(?=\s*\\?[\"'])|:(?=\s*\S+$)|:(?=\s*[^\s},]+[},])|,\s*\\?[\"']?value\\?[\"']?\s*[:=])"
    rf"\s*\\?[\"']?){_NO_SECRET}[^\s\"'\\,;&}}]+",
    re.IGNORECASE,
)
# What may be a secret access key of AWS: nothing marks one but its length and its disorder.
_KEY_LIKE = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_MIN_BITS = 4.3
_MOST_IN_WORDS = 20
# Homes that AMIs have say nothing of a machine.
_HOMES = re.compile(r"(?<![\w.])/(?:home|Users)/(?!ec2-user|ubuntu|ssm-user)[A-Za-z_][\w.-]*")


def redacted(review: Review) -> Review:
    """Return the review without account ids, secrets, and folders of this machine."""
    return _over(review, partial(_clean, list(_folders())))


def _over(value: T, clean: Callable[[str], str]) -> T:
    """Return a tree of dataclasses with every text in it cleaned."""
    if isinstance(value, Enum):
        return cast(T, value)
    if isinstance(value, str):
        return cast(T, clean(value))
    if isinstance(value, tuple):
        return cast(T, tuple(_over(each, clean) for each in value))
    if is_dataclass(value) and not isinstance(value, type):
        cleaned = {field.name: _over(getattr(value, field.name), clean) for field in fields(value)}
        return cast(T, replace(value, **cleaned))
    return value


def _clean(folders: list[tuple[re.Pattern[str], str]], text: str) -> str:
    text = _TOKENS.sub(REDACTED, text)
    text = _ASSIGNED.sub(lambda found: found["reference"] or f"{found['name']}{REDACTED}", text)
    text = _KEY_LIKE.sub(lambda found: REDACTED if _is_disorder(found[0]) else found[0], text)
    text = _ACCOUNT_ID.sub(lambda found: found["digest"] or ACCOUNT, text)
    for folder, instead in folders:
        text = folder.sub(instead, text)
    return _HOMES.sub("~", text)


def _is_disorder(text: str) -> bool:
    """Return whether a text has all kinds of characters, a random one's entropy, and few words."""
    if not all(re.search(kind, text) for kind in ("[A-Z]", "[a-z]", "[0-9]")):
        return False
    if sum(map(len, re.findall("[a-z]{3,}", text))) > _MOST_IN_WORDS:
        return False
    shares = (number / len(text) for number in Counter(text).values())
    return -sum(share * math.log2(share) for share in shares) >= _MIN_BITS


def _folders() -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield this project's folder and the user's, with what stands for what is in them."""
    before, after = r"(?<![\w.~-])", r"(?![\w.-])"
    for folder, instead in ((Path.cwd(), ""), (Path.home(), "~/")):
        if folder != Path(folder.anchor):
            name = re.escape(str(folder))
            yield re.compile(rf"{before}{name}/(?=[\w.-])"), instead
            yield re.compile(rf"{before}{name}{after}"), instead.rstrip("/") or "."
