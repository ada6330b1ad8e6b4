#!/usr/bin/env python3
"""Prints the fields of Odoo that hold credentials of users or of services.

Usage: credential_fields.py 14=PATH 15=PATH ... > packages/odoo/src/sensitive/credential-fields-data.ts

Each PATH is a checkout, as for read_odoo.py. A field of texts or bytes is found by its name (`*_token`, `*_api_key`), if
a view shows a field of this name as a password, if it is related to a field that is found, or if it declares to be
computed from one. `credential_fields` of review.json has what is left out. With `--rows`, prints the versions, the groups and the reason too, for the review.
"""

from __future__ import annotations

import argparse
import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementTree

from field_sources import Shown, Sources
from odoo_sources import SKIPPED_FOLDERS, find_checkouts, read_checkout

REVIEW = Path(__file__).with_name("review.json")
TYPES = {"Char", "Text", "Html", "Binary", "Json"}
NAME = re.compile(r"token|secret|passw|passphrase|private_?key|(^|_)key$|(hash|sha)_?key|_salt$|_pass$|csid_json|webhook_uuid")


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
        for row, how in find_credentials(Sources(read_checkout(path, lambda *_: None)), passwords, review).items():
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
            if shown and (name, field) not in found and not is_left_out(Shown(name, field), review):
                computed[name, field] = f"computed from {shown[0].model} {shown[0].field}"
    return computed


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
