#!/usr/bin/env python3
"""Prints tables of what the models of an Odoo version have, as JSON, from a checkout of its sources.

Usage: read_odoo.py --version 18 PATH > 18.json

PATH is the folder with `odoo/addons`, and possibly `addons`. Only modules under LGPL-3 that can be installed are
read, without test modules. Nothing is imported or run. The output has one model a line and sorted keys:

- `modules`, `defined_by`: modules that define or extend the model, and those that define it
- `kind`: `stored`, `transient` or `abstract`
- `inherit`, `inherits`: mixins, and models by delegation with their fields
- `methods`: public methods of the model's own classes, with `parameters`, `model` (`api.model`), `readonly`,
  `writes`, `reasons`, and `direct`: the reasons that do not come from calls of other methods
- `fields`: by name, with `store: false` if a field has no column of its own, and `readonly: false` if the value of a
  related field can be written
- `context`: for each key, the functions that read it. `writes`: the function, or one that it calls, writes.
  `guards`: writes or `sudo()` under a condition on the key. `paths`: how the function is reached while records are
  read. `reasons`: those for which the key is a source. `direct`: those of them by what the function itself does with
  the key.

A reason says why a method can have effects outside the records that a call names. Its sources are parameters,
`context.KEY`, or `self.FIELD`:

- `model`: the source names a model
- `method`: it names an attribute or a method
- `ref`: it is an external id
- `render`: it is a template, or names one
- `code`: it is run as code, or selects an action that is run
- `sql`: it becomes part of the text of a statement
- `credential`: the answer has a token, a key, or a link that opens a record or a service. The sources are fields
- `read_elsewhere`: the answer has values of other models. The sources are their fields, or `statement` of SQL
- `guarded`: the method changes users, rights, companies, bank accounts, aliases or settings. The sources are fields
- `domain`: it determines the fields in a domain, an order or a grouping, or the fields to read, on the own model
- `domain_elsewhere`, `fields_elsewhere`, `values_elsewhere`: it determines the fields in a domain, the fields to read,
  or the fields to write, on another model
- `records_elsewhere`: it selects records of another model that are changed, or whose method changes something
- `path`: it is a path of fields
- `context`: it determines keys of the context
- `sender`: it is an author, a sender or a receiver of mail
- `sudo`: it selects records or values that are used with all rights

The tables contain too much rather than too little. Not seen are calls through `super()`, calls on records whose model
no expression names, functions outside of model classes, overrides in models that inherit a mixin, and code in data
files.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from changed_models import Changed
from data_flow import FunctionFacts, FunctionNode, analyze_function
from effect_flow import trace_effects
from field_sources import Sources
from model_tables import Tables
from odoo_sources import ModelClass, read_checkout
from returned_values import Returned, trace_returned
from value_flow import NOTHING, Value


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints tables of the models of an Odoo version as JSON.")
    parser.add_argument("--version", required=True, help="version of Odoo, kept in the output")
    parser.add_argument("path", type=Path, help="folder that contains odoo/addons")
    options = parser.parse_args()
    if not (options.path / "odoo" / "addons").is_dir():
        parser.error(f"{options.path} has no folder odoo/addons")
    for line in render(options.version, read_tables(read_checkout(options.path, analyze))):
        print(line)


@dataclass
class Facts(FunctionFacts):
    """What the analyses find in one function."""

    returned: Value = NOTHING
    effects: list = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


def analyze(node: FunctionNode, parameters: list[str], constants: dict[str, object]) -> Facts:
    effects = trace_effects(node, parameters, constants)
    return Facts(
        **vars(analyze_function(node, parameters, constants)),
        returned=trace_returned(node, parameters, constants),
        effects=effects.effects,
        keys=effects.keys,
    )


def read_tables(classes: list[ModelClass]) -> Tables:
    tables = Tables(classes)
    sources = Sources(classes)
    for find in (Returned(sources).list_reasons, Changed(sources).list_reasons):
        tables.add_reasons(find)
    return tables


def render(version: str, tables: Tables) -> Iterator[str]:
    """Lines of a JSON document with one model a line."""
    models = [f"{_dump(name)}:{_dump(model)}" for name, model in tables.describe().items()]
    yield "{"
    yield '"models":{'
    yield ",\n".join(models)
    yield "},"
    yield f'"version":{_dump(version)}'
    yield "}"


def _dump(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    main()
