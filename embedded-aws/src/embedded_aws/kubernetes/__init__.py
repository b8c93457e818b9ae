"""A real control plane of Kubernetes, with JobSet and Kueue if asked for.

It is built from Go modules at locked sums (`prepare`), and started by `start`. Nothing else of the
embedded AWS needs it.
"""
