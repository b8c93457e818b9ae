"""A third orchestrator: jobs are commands of AWS's own document AWS-RunShellScript.

It is there to show what another orchestrator needs, and is not for use: nothing keeps two jobs off
one node, and nothing waits for the nodes to boot.
"""
