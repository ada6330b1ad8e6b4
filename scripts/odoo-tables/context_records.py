#!/usr/bin/env python3
"""Prints the members of a context that select records of other models, for related-context.ts.

Usage: context_records.py 14=../odoo-14 … 19=../odoo-19 > packages/odoo/src/related/context-records-data.ts

Each argument is a version and a checkout of it. A member selects records if a function browses them by its value,
searches for them by it, or sets a relational field to it, also as a default of the field. The output has:

- one line for each member other than `active_id` and `active_ids` whose records a function changes, with the models of
  the records. The line holds for calls of all models, because a context reaches everything that a method calls.
- one line for each model with a function that takes `active_id` or `active_ids`, after the name of the model and a
  colon, with the models of the records. Forms (transient models) are listed if any of their functions does, other
  models only if the function changes the records.

`*` stands for a model that cannot be determined. `context_records` of review.json overrules single lines. With
`--rows`, prints the functions behind each line, for the review.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from data_flow import CONTEXT_PREFIX, SAME_RECORDS, SEARCHES, FunctionFacts, FunctionNode, _Analysis, _name_of
from model_tables import RECORDS_REASON, Tables
from odoo_sources import ModelClass, find_checkouts, read_checkout

REVIEW = Path(__file__).with_name("review.json")
ACTIVE = {"active_id", "active_ids"}
IDS = {"id", "ids", "_origin", "_ids"}
# Functions whose result holds the ids or records of their arguments.
HOLDING = {"browse", "set", "link", "union", "concat"}
COLLECTIONS = {"int", "list", "tuple", "set", "sorted"}
ANY_MODEL = "*"
RELATIONAL = {"Many2one", "One2many", "Many2many"}
# A member that holds ids, or lists of records, by its name.
NAMES_RECORDS = re.compile(r"(^|_)(id|ids|orders|moves)(_|$)")


@dataclass
class Facts(FunctionFacts):
    """What the analysis finds in one function, with what it does with the values of context members.

    Each use is a model, or None for the model of the function, and the path of fields from there to the records.
    """

    uses: dict[str, set[tuple[str | None, str]]] = field(default_factory=dict)
    returned: set[str] = field(default_factory=set)


def analyze(node: FunctionNode, parameters: list[str], constants: dict[str, object]) -> Facts:
    return _RecordAnalysis(node, parameters, constants).run_with_uses()


class _RecordAnalysis(_Analysis):
    def run_with_uses(self) -> Facts:
        facts = Facts(**vars(self.run()))
        if not facts.context:
            return facts
        for model, path, value in self._list_uses():
            for key in self._keys_of(value):
                facts.uses.setdefault(key, set()).add((model, path))
        for node in self.nodes:
            if isinstance(node, ast.Return) and node.value is not None:
                facts.returned |= self._keys_of(node.value)
            elif isinstance(node, (ast.Assign, ast.AugAssign)):
                changed = {CONTEXT_PREFIX + key for key in self._list_changed(node)}
                if changed:
                    facts.reasons.setdefault(RECORDS_REASON, set()).update(changed)
        return facts

    def _list_changed(self, node: ast.Assign | ast.AugAssign) -> Iterator[str]:
        """The members of records of which a field is assigned: `self.env["x"].browse(context["x_id"]).name = 1`."""
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Attribute) and not self.is_self(target.value):
                yield from self._keys_of(target.value)

    def _list_uses(self) -> Iterator[tuple[str | None, str, ast.expr]]:
        for node in self.nodes:
            if isinstance(node, ast.Dict):
                yield from self._list_set(zip(node.keys, node.values))
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Attribute) and self.is_self(target.value):
                        yield None, target.attr, node.value
                    elif isinstance(target, ast.Subscript):
                        yield from self._list_set([(target.slice, node.value)])
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                receiver = node.func.value
                if node.func.attr in ("update", "setdefault"):
                    yield from ((None, keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg)
                    if len(node.args) == 2:
                        yield from self._list_set([(node.args[0], node.args[1])])
                model = None if self.is_self(receiver) else self.model_of(receiver)
                if model is None and not self.is_self(receiver):
                    continue
                if node.func.attr == "browse":
                    yield from ((model, "id", argument) for argument in node.args)
                elif node.func.attr in SEARCHES:
                    for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                        yield from self._list_conditions(model, argument)

    def _list_set(self, entries: Iterable[tuple[ast.expr | None, ast.expr]]) -> Iterator[tuple[None, str, ast.expr]]:
        for key, value in entries:
            name = None if key is None else self._read_constant(key)
            if isinstance(name, str):
                yield None, name, value

    def _list_conditions(self, model: str | None, domain: ast.expr) -> Iterator[tuple[str | None, str, ast.expr]]:
        parts = [domain]
        if isinstance(domain, ast.Name):
            parts += [value for name, value, _ in self.bindings if name == domain.id]
        for part in parts:
            for node in ast.walk(part):
                if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == 3:
                    path = self._read_constant(node.elts[0])
                    if isinstance(path, str):
                        yield model, path, node.elts[2]

    def _keys_of(self, node: ast.AST, seen: frozenset[str] = frozenset()) -> set[str]:
        """The members whose ids or records a value holds, not values of their fields."""
        if isinstance(node, ast.Name):
            if node.id in seen:
                return set()
            values = [value for name, value, _ in self.bindings if name == node.id]
            return self._keys_of_all(values, seen | {node.id})
        if isinstance(node, ast.Attribute):
            return self._keys_of(node.value, seen) if node.attr in IDS else set()
        found = set(self._list_context_keys(node))
        if isinstance(node, ast.Subscript):
            return found or self._keys_of(node.value, seen)
        if isinstance(node, ast.Call):
            if found:
                return found
            values = [*node.args]
            if isinstance(node.func, ast.Attribute):
                values = values if node.func.attr in HOLDING else []
                values += [node.func.value] if node.func.attr in SAME_RECORDS else []
            elif _name_of(node.func) not in COLLECTIONS:
                values = []
            return self._keys_of_all(values, seen)
        if isinstance(node, ast.BoolOp):
            return self._keys_of_all(node.values, seen)
        if isinstance(node, ast.IfExp):
            return self._keys_of_all([node.body, node.orelse], seen)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return self._keys_of_all(node.elts, seen)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self._keys_of(node.elt, seen)
        return self._keys_of(node.value, seen) if isinstance(node, (ast.Starred, ast.NamedExpr)) else set()

    def _keys_of_all(self, nodes: Iterable[ast.AST], seen: frozenset[str]) -> set[str]:
        return set().union(*(self._keys_of(node, seen) for node in nodes))


@dataclass
class Row:
    models: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints the members of a context that select records.")
    parser.add_argument("--rows", action="store_true", help="print the functions behind each line, for the review")
    parser.add_argument("--review", type=Path, default=REVIEW, help="the reviewed rows; default: review.json")
    parser.add_argument("checkouts", nargs="+", metavar="VERSION=PATH", help="checkouts of Odoo")
    options = parser.parse_args()
    checkouts = find_checkouts(parser, options.checkouts)
    rows: dict[str, Row] = {}
    for version, path in checkouts.items():
        collect(rows, version, read_checkout(path, analyze))
    if not options.rows:
        overrule(rows, json.loads(options.review.read_text(encoding="utf-8")))
    print("\n".join(describe(rows) if options.rows else render(rows, checkouts)))


def collect(rows: dict[str, Row], version: str, classes: list[ModelClass]) -> None:
    """Adds what one version has: by member, or by model and member if the member is an active record."""
    tables = Tables(classes)
    for function in tables.functions.values():
        owners = [name for name, ancestors in tables.ancestors.items() if function.model in ancestors]
        for method in function.methods:
            for key in method.facts.context:
                changes = RECORDS_REASON in function.read_keys.get(key, ())
                if key in ACTIVE:
                    names = [f"{name}:" for name in owners if changes or tables.models[name].kind == "transient"]
                else:
                    is_browsed = any(path == "id" for _, path in method.facts.uses.get(key, ()))
                    names = [key] if changes and (is_browsed or NAMES_RECORDS.search(key)) else []
                models = find_models(tables, function.model, function.name, method.facts, key)
                for name in names:
                    row = rows.setdefault(name, Row())
                    row.models |= models
                    row.functions.add(f"{function.model} {function.name} {key} @{version}")


def find_models(tables: Tables, model: str, name: str, facts: Facts, key: str) -> set[str]:
    """The models of the records that a member selects in a function; empty: not determined there."""
    uses = set(facts.uses.get(key, ()))
    if key in facts.returned:
        uses |= {(None, field) for field in tables.models[model].fields if _has_default(tables, model, field, name)}
    return {found for start, path in uses for found in _follow(tables, start or model, path)}


def _has_default(tables: Tables, model: str, name: str, function: str) -> bool:
    return any(definition.keywords.get("default") == function for definition in tables.models[model].fields[name])


def _follow(tables: Tables, model: str, path: str) -> set[str]:
    """The model that a path of fields leads to; empty: none."""
    for name in path.split("."):
        if name in IDS:
            continue
        definitions = tables.models[model].fields.get(name, ()) if model in tables.models else ()
        comodels = [
            definition.keywords["comodel_name"]
            for definition in definitions
            if definition.type in RELATIONAL and isinstance(definition.keywords.get("comodel_name"), str)
        ]
        if not comodels:
            return set()
        model = comodels[-1]
    return {model}


def overrule(rows: dict[str, Row], review: dict) -> None:
    for each in review["context_records"]:
        for name in each["names"]:
            rows.pop(name, None)
            if each["models"]:
                rows[name] = Row(set(each["models"]))


def describe(rows: dict[str, Row]) -> Iterator[str]:
    for name, row in sorted(rows.items()):
        yield f"{name} {','.join(sorted(row.models)) or ANY_MODEL}"
        for function in sorted(row.functions):
            yield f"    {function}"


def render(rows: dict[str, Row], checkouts: dict[str, Path]) -> Iterator[str]:
    yield "/**"
    yield " * Members of a context that select records of other models, and models whose methods take the active records."
    yield " * Written by scripts/odoo-tables/context_records.py, which describes the form: change its review.json."
    yield f" * From the sources of Odoo Community {', '.join(checkouts)}."
    yield " */"
    yield "export const CONTEXT_RECORDS = `"
    for name, row in sorted(rows.items()):
        yield " ".join([name, *(sorted(row.models) or [ANY_MODEL])])
    yield "`;"


if __name__ == "__main__":
    main()
