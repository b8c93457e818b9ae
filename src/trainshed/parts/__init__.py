"""What a cluster consists of, as its plan has it: one tree of parts, and the arrows between them.

`explain` prints it, `cost` walks it, and a review diffs and draws it.
"""
