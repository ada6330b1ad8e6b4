#!/usr/bin/env python3
"""Prints the fields by which a lazy `read_group` groups records into all records that the field can lead to.

Usage: expanded_groups.py 14=PATH 15=PATH ... > packages/odoo/src/expanded-groups-table.ts

Each PATH is a checkout, as for read_odoo.py. All versions together make one table. It has one model a line, with its
fields: those with `group_expand` that lead to records.
"""

from __future__ import annotations

import argparse

from field_sources import KINDS, RELATION, Sources
from odoo_sources import find_checkouts, read_checkout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="+", metavar="VERSION=PATH", help="version and folder with odoo/addons")
    checkouts = find_checkouts(parser, parser.parse_args().checkouts)
    rows: dict[str, set[str]] = {}
    for path in checkouts.values():
        for name, model in Sources(read_checkout(path, lambda *_: None)).models.items():
            found = {
                each
                for each, keywords in model.fields.items()
                if keywords.get("group_expand") and KINDS.get(model.types[each]) == RELATION
            }
            if found and not model.is_abstract:
                rows.setdefault(name, set()).update(found)
    print("/**")
    print(f" * Fields of Odoo Community {', '.join(checkouts)} by which a lazy `read_group` lists all related records.")
    print(" * Written by scripts/odoo-tables/expanded_groups.py.")
    print(" */")
    print("export const EXPANDED_GROUPS = `")
    for model, found in sorted(rows.items()):
        print(model, *sorted(found))
    print("`;")


if __name__ == "__main__":
    main()
