#!/usr/bin/env python3
"""Prints fields by which a record names another one of any model, for the test of named-records.ts.

Usage: named_records.py 14.json … 19.json > packages/odoo/test/data/named-records-14-to-19.json

The arguments are outputs of read_odoo.py. A field is found if its type is `Many2oneReference`, or if it is an id, or a
text of ids, beside a field with the name or the id of a model: `res_id` beside `res_model`, `model` or `model_id`, and
`x_id` beside `x_model`. Fields of a model that it has by delegation are left out.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

Fields = dict[str, dict[str, object]]

ID = re.compile(r"(?P<stem>.+)_ids?")
# Fields that name the model of `res_id`, in addition to `res_model` and similar names.
MODELS_OF_RES = ["model", "model_id", "model_name"]


def main() -> None:
    versions: dict[tuple[str, str], list[str]] = {}
    for path in sys.argv[1:]:
        tables = json.loads(Path(path).read_text(encoding="utf-8"))
        for model, table in tables["models"].items():
            fields = table.get("fields", {})
            for name in fields:
                if names_record(name, fields):
                    versions.setdefault((model, name), []).append(tables["version"])
    rows = [
        f'{{ "model": "{model}", "field": "{name}", "versions": "{" ".join(found)}" }}'
        for (model, name), found in sorted(versions.items())
    ]
    print("[\n  " + ",\n  ".join(rows) + "\n]")


def names_record(name: str, fields: Fields) -> bool:
    kind = fields[name]["type"]
    match = ID.fullmatch(name)
    if kind == "Many2oneReference" or match is None or kind not in ("Integer", "Char", "Text"):
        return kind == "Many2oneReference"
    stem = match["stem"]
    others = [f"{stem}_model", f"{stem}_model_id", f"{stem}_model_name", *(MODELS_OF_RES if stem == "res" else [])]
    return any(names_model(fields[other]) for other in others if other in fields)


def names_model(field: dict[str, object]) -> bool:
    return field["type"] in ("Char", "Selection") or field.get("comodel") == "ir.model"


if __name__ == "__main__":
    main()
