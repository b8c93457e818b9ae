"""AWS's managed policies for programs that judge them."""

from embedded_aws.managed_policies import document


def test_a_managed_policy_says_what_aws_published() -> None:
    administrator = document("AdministratorAccess")

    assert administrator
    assert administrator["Statement"] == [{"Action": "*", "Effect": "Allow", "Resource": "*"}]


def test_a_policy_that_aws_does_not_have_is_not_known() -> None:
    assert document("TeamAdmin") is None
