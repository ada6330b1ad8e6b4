#!/usr/bin/env python3
"""Prints the fields of Odoo that hold credentials of users or of services.

Usage: credential_fields.py 14=PATH 15=PATH ... > packages/odoo/src/sensitive/credential-fields-data.ts

Each PATH is a checkout, as for read_odoo.py. A field of texts or bytes is found by its name (`*_token`, `*_api_key`), if
a view shows a field of this name as a password, if it is related to a field that is found, if it declares to be
computed from one, or if its method reads a system parameter of such a name. `credential_fields` of review.json has what
is left out. With `--rows`, prints the versions, the groups and the reason too, for the review.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from data_flow import FunctionNode
from field_sources import Shown, Sources
from odoo_sources import SKIPPED_FOLDERS, find_checkouts, read_checkout

REVIEW = Path(__file__).with_name("review.json")
TYPES = {"Char", "Text", "Html", "Binary", "Json"}
NAME = re.compile(r"token|secret|passw|passphrase|private_?key|(^|_)key$|(hash|sha)_?key|_salt$|_pass$|csid_json|webhook_uuid")


# Maximum number of calls that are followed from the method that computes a field.
DEPTH_MAX = 3


class Read(NamedTuple):
    """What a function reads."""

    # Names of system parameters.
    parameters: frozenset[str]
    # Methods of its own records.
    methods: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", action="store_true", help="print how each field was found, for the review")
    parser.add_argument("--review", type=Path, default=REVIEW, help="the reviewed rows; default: review.json")
    parser.add_argument("checkouts", nargs="+", metavar="VERSION=PATH", help="version and folder with odoo/addons")
    options = parser.parse_args()
    checkouts = find_checkouts(parser, options.checkouts)
    review = json.loads(options.review.read_text(encoding="utf-8"))["credential_fields"]
    found: dict[tuple[str, str], dict[str, str]] = {}
    for version, path in checkouts.items():
        passwords = set(read_password_names(path))
        for row, how in find_credentials(Sources(read_checkout(path, trace_read)), passwords, review).items():
            found.setdefault(row, {})[version] = how
    if options.rows:
        for (model, field), versions in sorted(found.items()):
            print(model, field, f"({' '.join(versions)}):", list(versions.values())[-1])
        return
    print("/**")
    print(f" * Fields of Odoo Community {', '.join(checkouts)} that hold credentials. Each line: a model, its fields.")
    print(" * Written by scripts/odoo-tables/credential_fields.py: change its review.json.")
    print(" */")
    print("export const CREDENTIAL_FIELDS = `")
    fields: dict[str, list[str]] = {}
    for model, field in sorted(found):
        fields.setdefault(model, []).append(field)
    for model, names in fields.items():
        print(model, *names)
    print("`;")


def find_credentials(sources: Sources, passwords: set[str], review: list[dict]) -> dict[tuple[str, str], str]:
    """The fields with what they were found by."""
    found: dict[tuple[str, str], str] = {}
    for name, model in sources.models.items():
        for field, keywords in model.fields.items():
            if model.types[field] not in TYPES or model.is_abstract:
                continue
            # A path of related fields ends at the field that keeps the value.
            for end in sources.list_ends(Shown(name, field)):
                is_named = NAME.search(end.field) is not None
                if (is_named or end.field in passwords) and not is_left_out(end, review):
                    if not is_left_out(Shown(name, field), review):
                        groups = keywords.get("groups", "all users")
                        found[name, field] = f"{'name' if is_named else 'view'} of {end.model} {end.field}, {groups}"
                    break
    found.update(find_computed(sources, found, review))
    return found


def find_computed(
    sources: Sources, found: dict[tuple[str, str], str], review: list[dict]
) -> dict[tuple[str, str], str]:
    """The fields that declare to be computed from one that is found, such as an address with a key."""
    computed: dict[tuple[str, str], str] = {}
    for name, model in sources.models.items():
        for field, keywords in model.fields.items():
            compute = keywords.get("compute")
            if model.types[field] not in TYPES or model.is_abstract or not isinstance(compute, str):
                continue
            shown = [each for each in sources.list_depends(name, compute) if each is not None and each in found]
            origins = [f"{each.model} {each.field}" for each in shown] or sorted(list_secrets(sources, name, compute))
            if origins and (name, field) not in found and not is_left_out(Shown(name, field), review):
                computed[name, field] = f"computed from {origins[0]}"
    return computed


def list_secrets(sources: Sources, model: str, method: str, depth: int = 0) -> set[str]:
    """The system parameters with the name of a credential that a method reads, or one that it calls."""
    found: set[str] = set()
    for definition in sources.methods_of(model, method):
        found.update(name for name in definition.facts.parameters if NAME.search(name))
        for called in definition.facts.methods if depth < DEPTH_MAX else ():
            found |= list_secrets(sources, model, called, depth + 1)
    return found


def trace_read(node: FunctionNode, _parameters: list[str], _constants: dict[str, object]) -> Read:
    calls = [child for child in ast.walk(node) if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute)]
    return Read(
        frozenset(
            str(call.args[0].value)
            for call in calls
            if call.func.attr == "get_param" and call.args and isinstance(call.args[0], ast.Constant)
        ),
        frozenset(call.func.attr for call in calls if isinstance(call.func.value, ast.Name)),
    )


def is_left_out(shown: Shown, review: list[dict]) -> bool:
    return any(
        any(fnmatchcase(shown.field, pattern) for pattern in row["fields"])
        and any(fnmatchcase(shown.model, pattern) for pattern in row.get("models", ["*"]))
        for row in review
    )


def read_password_names(root: Path) -> list[str]:
    """The names of fields that a view of the checkout shows as passwords."""
    names: list[str] = []
    for folder in (root / "odoo" / "addons", root / "addons"):
        for path in folder.glob("*/**/*.xml"):
            if SKIPPED_FOLDERS.intersection(path.relative_to(folder).parts[1:-1]):
                continue
            text = path.read_bytes()
            if b"password=" not in text:
                continue
            try:
                root_node = ElementTree.fromstring(text)
            except ElementTree.ParseError:
                continue
            names += [
                node.get("name", "")
                for node in root_node.iter("field")
                if node.get("password", "").lower() in ("true", "1")
            ]
    return names


if __name__ == "__main__":
    main()
