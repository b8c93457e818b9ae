"""Write a page for each rule, and their index, into a folder: `scripts/rule_pages.py FOLDER`.

`make docs` writes them into the site.
"""

import sys
from pathlib import Path

from trainshed.findings.pages import rule_pages

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in rule_pages().items():
        (folder / name).write_text(text, encoding="utf-8")
