"""What an instance may do so that Session Manager reaches it."""

import json

from trainshed.app.sources import packer_folder
from trainshed.files import read_text


def session_actions() -> list[str]:
    """Return the IAM actions; the Packer template reads the same file.

    AWS Systems Manager user guide, "Add Session Manager permissions to an existing IAM role". Not
    AmazonSSMManagedInstanceCore, which also reads every parameter of the account.
    """
    path = packer_folder() / "session-manager.json"
    return list(json.loads(read_text(path)))
