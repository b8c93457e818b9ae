"""A real control plane of Kubernetes: etcd, the API server, the scheduler, the controllers, JobSet.

It is built from Go modules at locked sums (`prepare`), and started by `start`. Nothing else of the
embedded AWS needs it.
"""
