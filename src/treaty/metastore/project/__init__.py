"""A project: files of SQL that say what the metastore should have, and what a folder of them changes and drops."""

from treaty.metastore.project.application import apply_plan, make_plan
from treaty.metastore.project.files import read_project_files
from treaty.metastore.project.metastore_rows import ProjectChoices
from treaty.metastore.project.objects import parse_project

__all__ = ["ProjectChoices", "apply_plan", "make_plan", "parse_project", "read_project_files"]
