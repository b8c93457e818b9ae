"""An AWS on this machine: moto's server, extended until it refuses what AWS refuses.

It listens on loopback only. Each AWS service is a folder of this package that holds its actions,
its refusals and its CloudFormation resource types. Refusals live at the API, once: they hold for
boto3, CloudFormation and the CDK CLI alike. Docstrings and comments name the document that a
behaviour is from. "Inferred" marks what follows from documents, and "From memory" what nobody has
looked up.
"""
