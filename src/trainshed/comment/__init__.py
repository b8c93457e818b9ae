"""A review's report as a comment of the pull or merge request that a job of CI is about.

It gets a token that may write. So nothing here runs, or even reads, the code of a project.
"""
