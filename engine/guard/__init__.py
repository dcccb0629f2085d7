"""The guard for CI: checks model files against a project's policy.

``check_model`` checks one file, ``batch.check_files`` many in processes of their own; both give
:class:`Checked`, plain data that :mod:`.sarif` and :mod:`.junit` write and :mod:`.baseline` sets
beside an earlier state. ``read_policy`` reads an ``opscope.toml``, ``find_policy`` finds it.
"""

from .checking import check_model
from .policy import ModelPolicy, Policy, Rule, TargetPolicy
from .policy_file import find_policy, read_policy
from .results import Checked, Found, LiveTable, OffGpu

__all__ = [
    "Checked",
    "Found",
    "LiveTable",
    "ModelPolicy",
    "OffGpu",
    "Policy",
    "Rule",
    "TargetPolicy",
    "check_model",
    "find_policy",
    "read_policy",
]
