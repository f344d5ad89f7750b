"""Tags: the words that stand for classes in what is stored, sent between nodes and written to the audit log.

Classes may be renamed, tags never: they are in logs. What is new gets a line here.
"""

from collections.abc import Mapping
from typing import Any

from treaty.core import answers, associating, requests

REQUESTS: Mapping[type, str] = {
    requests.Register: "register",
    requests.Derive: "derive",
    requests.DeleteVersion: "delete-version",
    requests.DeleteSubject: "delete-subject",
    requests.MakeContext: "make-context",
    requests.DeleteContext: "delete-context",
    requests.SetConfig: "set-config",
    requests.DeleteConfig: "delete-config",
    requests.SetMode: "set-mode",
    requests.DeleteMode: "delete-mode",
    requests.GetConfig: "get-config",
    requests.GetMode: "get-mode",
    requests.Lookup: "lookup",
    requests.Check: "check",
    requests.GetSchema: "get-schema",
    requests.GetGuid: "get-guid",
    requests.GetGuidIds: "get-guid-ids",
    requests.GetVersion: "get-version",
    requests.FindVersion: "find-version",
    requests.ListSubjects: "list-subjects",
    requests.ListVersions: "list-versions",
    requests.ListSchemas: "list-schemas",
    requests.ListSettings: "list-settings",
    requests.UsesOf: "uses-of",
    requests.ReferencedBy: "referenced-by",
    requests.ListContexts: "list-contexts",
    associating.ListAssociations: "list-associations",
    associating.GetAssociations: "get-associations",
    associating.Associate: "associate",
    associating.Dissociate: "dissociate",
    associating.ChangeAssociations: "change-associations",
    requests.GetOutcome: "get-outcome",
}
"""Every kind of request."""
ANSWERS: Mapping[type, str] = {
    answers.Registered: "registered",
    answers.VersionFound: "version-found",
    answers.Deleted: "deleted",
    answers.ConfigStored: "config-stored",
    answers.ModeStored: "mode-stored",
    answers.ContextMade: "context-made",
    associating.ResourceBound: "resource-bound",
    associating.AssociationResults: "association-results",
}
"""Every answer that an outcome keeps."""

ANSWER_CLASSES: Mapping[str, type[Any]] = {tag: kind for kind, tag in ANSWERS.items()}


def request_tag(request: object) -> str:
    """Return the tag of a request; of one that is not known here, and is refused, the name of its class."""
    return REQUESTS.get(type(request)) or type(request).__name__
