"""The forms of texts in pins.json, each a pattern and the words for it."""

Form = tuple[str, str]

# No space, no pattern, no word for "whatever there is".
VERSION: Form = (
    r"(?!(?i:latest|stable|current|newest)$)[0-9A-Za-z][0-9A-Za-z.+:~_-]*",
    "an exact version, without spaces and wildcards, and not latest",
)
URL: Form = (
    r"https://(?!.*(?i:latest))(?:[^\s{}]|\{version\})+",
    "an https address without spaces that does not lead to a latest version",
)
KEY: Form = (
    rf"{URL[0]}|keys/[\w.-]+\.asc",
    "an https address, or a file such as keys/vendor.asc in packer/scripts/lib",
)
_BOUND = r"(?:>=|<=|>|<)(?:[0-9][\w.~+-]*|\{version\})"
RANGE: Form = (rf"{_BOUND}(?:,{_BOUND})*", "a range of versions such as >=1.21,<1.22")
FINGERPRINT: Form = (r"[0-9A-F]{40}", "40 upper-case hexadecimal digits without spaces")
SHA256: Form = (r"[0-9a-f]{64}", "64 lower-case hexadecimal digits")
DIGEST: Form = (f"sha256:{SHA256[0]}", f"sha256: and {SHA256[1]}")
