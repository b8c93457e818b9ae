"""The AWS SDK for JavaScript, which AWS's Node.js runtimes contain and Node.js does not.

Lambda developer guide, "Runtime-included SDK versions": version 3 from nodejs18.x on; a function's
own copy wins over the runtime's. The SDK is that of the npm project in which the embedded AWS was
started: the `node_modules` of its working directory or of the nearest directory above, as Node.js
itself looks for packages.
"""

from pathlib import Path

# The SDK's own packages. Node.js finds their dependencies from their real paths.
_SCOPES = ("@aws-sdk", "@smithy")


def offer_sdk(folder: Path, start: Path) -> None:
    """Make the SDK, if there is one, importable from everything below a folder.

    Links work for `require` and `import`, NODE_PATH only for `require`.

    Args:
        folder: above the function's code; gets a `node_modules`.
        start: where to look for the SDK, and upwards.
    """
    for directory in (start, *start.parents):
        modules = directory / "node_modules"
        if (modules / _SCOPES[0]).is_dir():
            (folder / "node_modules").mkdir()
            for scope in _SCOPES:
                if (modules / scope).is_dir():
                    (folder / "node_modules" / scope).symlink_to(modules / scope)
            return
