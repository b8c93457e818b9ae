"""The forms of texts in pins.json."""

from trainshed.documents.forms import Form

_URL = r"https://(?!.*(?i:latest))(?:[^\s{}]|\{version\})+"
_BOUND = r"(?:>=|<=|>|<)(?:[0-9][\w.~+-]*|\{version\})"

# No space, no pattern, no word for "whatever there is".
VERSION = Form(
    pattern=r"^(?!(?i:latest|stable|current|newest)\Z)[0-9A-Za-z][0-9A-Za-z.+:~_-]*\Z",
    words="an exact version, without spaces and wildcards, and not latest",
    example="1.21.3-57",
)
URL = Form(
    pattern=rf"^{_URL}\Z",
    words="an https address without spaces that does not lead to a latest version",
    example="https://example.com/installer-{version}.tar.gz",
)
KEY = Form(
    pattern=rf"^(?:{_URL}|keys/[\w.-]+\.asc)\Z",
    words="an https address, or a file such as keys/vendor.asc in packer/scripts/lib",
    example="keys/vendor.asc",
)
RANGE = Form(
    pattern=rf"^{_BOUND}(?:,{_BOUND})*\Z", words="a range of versions", example=">=1.21,<1.22"
)
FINGERPRINT = Form(
    pattern=r"^[0-9A-F]{40}\Z",
    words="40 upper-case hexadecimal digits without spaces",
    example="0123456789" * 4,
)
SHA256 = Form(
    pattern=r"^[0-9a-f]{64}\Z",
    words="64 lower-case hexadecimal digits",
    example="0123456789abcdef" * 4,
)
SUITE = Form(pattern=r"^[a-z]+\Z", words="the name of a release of Ubuntu", example="jammy")
DEVICE = Form(pattern=r"^/dev/\w+\Z", words="the name of a device", example="/dev/xvda")
AMI_NAME = Form(
    pattern=r"^[\w()\[\] ./'@-]{3,128}\Z",
    words="the exact name of an AMI, without wildcards",
    example="al2023-ami-2023.12.20260930.0-kernel-6.18-x86_64",
)
IMAGE = Form(
    pattern=r"^[a-z0-9.-]+\.[a-z]+/\S+[^\s:@]\Z",
    words="a repository of a registry, without a tag",
    example="nvcr.io/nvidia/cuda",
)
BUILD_IMAGE = Form(
    pattern=r"^\S+:\{version\}\Z",
    words="an image of AWS CodeBuild with {version} as its tag",
    example="aws/codebuild/standard:{version}",
)
