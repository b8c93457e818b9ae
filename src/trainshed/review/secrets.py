"""Secrets in a text: tokens by their form, values by the name before them.

The patterns are ours. detect-secrets 1.5.0, the library for it, is of May 2024, and made for lines
of source code: of 14 ordinary texts of a review (ARNs, digests, ids of AMIs, logical ids, keys of
assets) its defaults take 13 for secrets. The rules of gitleaks come with a program in Go.
"""

import math
import re
from collections import Counter

from trainshed.documents.sensitive_names import names_a_secret
from trainshed.review.plain_text import seen

REDACTED = "REDACTED"

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
            # Google, Stripe, SendGrid, Databricks, Docker Hub, Vault
            r"AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}",
            r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,}",
            r"SG\.[\w-]{16,}\.[\w-]{16,}|dapi[0-9a-f]{32}(?:-\d+)?|dckr_[a-z]{3}_[\w-]{20,}",
            r"hv[bsr]\.[\w-]{20,}|(?<![\w.])[bsr]\.[A-Za-z0-9]{24}(?![\w.])",
            # Azure: keys of storage accounts, secrets of apps, tokens of DevOps, signed addresses
            r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{86}==|[\w.~-]{3}\dQ~[\w.~-]{31,34}",
            r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}|(?<=[?&]sig=)[^&\s\"']+",
            # JSON Web Tokens, private keys (the beginning may be cut off), passwords in addresses
            r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
            r"(?:(?<!\S)[A-Za-z0-9+/=]{16,}\s+)*(?:[A-Za-z0-9+/=]+\s+)?"
            r"-----END [A-Z ]*PRIVATE KEY-----",
            r"(?<=://)[^/\s:@\"']*:[^/\s\"']+(?=@)|(?<=://)[^/\s:@\"']{16,}(?=@)",
            r"(?<=Bearer )[\w.~+/=-]{8,}|(?<=Authorization: Basic )[\w+/=-]{8,}",
            r"(?:(?<=[\s\"']-u )|(?<=--user ))[^\s:\"']+:[^\s\"']+",
        )
    )
)
_QUOTE = r"\\?[\"']"
# Not a reference: an ARN, a path, a substitution; nor a word or number that is no secret.
_NO_SECRET = (
    r"(?!arn:|/\w+/|\$?\{|\[|\(hidden\)|(?:true|false|null|none|required|optional|\d{1,5})(?!\w)"
    rf"|{REDACTED})"
)
# As a whole where it is quoted; otherwise to a space, or to what ends it in JSON and in commands.
_VALUE = re.compile(
    rf"(?P<quote>{_QUOTE}){_NO_SECRET}(?:(?!(?P=quote)).)+"
    rf"|{_NO_SECRET}(?:[^\s\"'\\,;&}}\]]|[,;}}\]](?=[^\s,;}}\]\"'\\]))+",
    re.IGNORECASE,
)
# `password=x`, `"Password": "x"`, and `"Name": "WANDB_API_KEY", "Value": "x"`. In prose, what
# follows a colon is a sentence, and no secret, unless it is the last word or has a digit.
_COLON = r":(?!:)(?=\s*\\?[\"']|[ \t]*\S+[ \t]*$|\s*[^\s},\]]+[},\]]|\s+(?=\S*\d)\S{6})"
_ASSIGNED = re.compile(
    r"\{\{resolve:[^}]*\}\}|"
    rf"(?<![\w-])(?P<name>-{{0,2}}[A-Za-z_][\w.-]*)(?:{_QUOTE})?\s*"
    rf"(?:=|{_COLON}|,\s*(?:{_QUOTE})?value(?:{_QUOTE})?\s*[:=])\s*",
    re.IGNORECASE | re.MULTILINE,
)
# `--password x`, also as words of a list.
_OPTION = re.compile(rf"(?<![\w-])(?P<name>--?[A-Za-z][\w-]*)(?:{_QUOTE})?[\s,]+(?!-)")
# What may be a secret access key of AWS: nothing marks one but its length and its disorder.
_KEY_LIKE = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_MIN_BITS = 4.3
_MOST_IN_WORDS = 20
# A key of Weights & Biases, or of many others, unless it is a commit or the tag of an image.
_HEX_KEY = re.compile(
    r"(?P<commit>(?:base|commit|revision|rev|sha1?|ref|tree|blob|tag|version|checkout)s?\W{1,3}[0-9A-Fa-f]{40}"
    r"|(?:@|[\w-]:)[0-9A-Fa-f]{40})(?![0-9A-Za-z])|(?<![0-9A-Za-z])[0-9A-Fa-f]{40}(?![0-9A-Za-z])",
    re.IGNORECASE,
)


def without_secrets(text: str) -> str:
    """Return a text with `REDACTED` for each secret, and without characters that nobody sees."""
    text = _TOKENS.sub(REDACTED, seen(text))
    text = _without_values(_OPTION, _without_values(_ASSIGNED, text))
    text = _KEY_LIKE.sub(lambda found: REDACTED if _is_disorder(found[0]) else found[0], text)
    return _HEX_KEY.sub(lambda found: found["commit"] or REDACTED, text)


def _without_values(names: re.Pattern[str], text: str) -> str:
    """Redact what follows each name of a secret that a pattern finds."""
    said, end = "", 0
    for found in names.finditer(text):
        secret = found["name"] and found.start() >= end and names_a_secret(found["name"])
        if secret and (value := _VALUE.match(text, found.end())):
            said += f"{text[end : found.end()]}{value['quote'] or ''}{REDACTED}"
            end = value.end()
    return said + text[end:]


def _is_disorder(text: str) -> bool:
    """Return whether a text has all kinds of characters, a random one's entropy, and few words."""
    if not all(re.search(kind, text) for kind in ("[A-Z]", "[a-z]", "[0-9]")):
        return False
    if sum(map(len, re.findall("[a-z]{3,}", text))) > _MOST_IN_WORDS:
        return False
    shares = (number / len(text) for number in Counter(text).values())
    return -sum(share * math.log2(share) for share in shares) >= _MIN_BITS
