#!/usr/bin/env python3
"""Prints which other fields a search by name compares, and a condition on a field that has a search method.

Usage: name_search_fields.py 14=PATH 15=PATH ... > packages/odoo/src/fields/name-searches-table.ts

Each PATH is a checkout, as for read_odoo.py. All versions together make one table. It has one model a line, with its
sources: `model:field`, or `model` alone for a field that leads to records of that model, which are searched for by name
in turn. Odoo compares the fields of `_rec_names_search`, or else the one of `_rec_name`. Methods that search in another
way count with the paths of texts that their code names: other fields are not compared with a name. Fields of the model
itself are left out.

A line of `model/field`, or `any/field` for a field of a mixin, has what a condition on this field compares, by the code
of its search method: the fields of the same kind whose paths the code names, of the model itself too, and models whose
records it searches for by name, because a path leads to them. The value of a relation can be a text.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator

from odoo_sources import Field, ModelClass, find_checkouts, read_checkout

SEARCHES = {"_name_search", "name_search", "_search_display_name", "_rec_names_search"}
# Methods that take a domain.
DOMAINS = {"search", "_search", "search_fetch", "search_read", "_where_calc", "read_group", "_read_group"}
RELATIONS = {"Many2one", "One2many", "Many2many"}
TEXTS = {"Char", "Text", "Html"}
NUMBERS = {"Integer", "Float", "Monetary"}
DATES = {"Date", "Datetime"}
# By kind of a field with a search method: the kinds of fields with which a value of it can be compared.
KINDS = {kind: kinds for kinds in (TEXTS, NUMBERS, DATES) for kind in kinds}
KINDS |= {kind: TEXTS for kind in {"Json", *RELATIONS}}
# Prefix for the name of a model whose records a function searches for by name.
NAMED = "@"
# Prefix for a path that a function compares with the value that it is given.
GIVEN = "="
# Behind the model whose records a function searches, in place of those of its own model.
ELSEWHERE = ">"


def list_texts(node: ast.AST, parameters: list[str], _constants: dict[str, object]) -> list[str]:
    """The texts in the code of a function that searches, what it compares, and the models that it searches by name."""
    if "search" not in getattr(node, "name", ""):
        return []
    by_context = {id(each) for part in list_by_context(node) for each in ast.walk(part)}
    owners = {id(each): owner for call in ast.walk(node) for owner in find_searched(call) for each in ast.walk(call)}
    nodes = [each for each in ast.walk(node) if id(each) not in by_context]
    constants = [each for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    texts = [each.value for each in constants]
    conditions = [each.elts for each in nodes if isinstance(each, ast.Tuple) and len(each.elts) == 3]
    # Another model is also searched by what does not depend on the value.
    compared = {id(path) for path, _, value in conditions if mentions(value, parameters)}
    paths = [
        owners.get(id(each), "") + each.value
        for each in constants
        if id(each) in compared or id(each) not in owners
    ]
    paths += [
        GIVEN + owners.get(id(path), "") + path.value
        for path, _, value in conditions
        if isinstance(path, ast.Constant) and isinstance(path.value, str)
        if isinstance(value, ast.Name) and value.id in parameters
    ]
    called = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    if not called & {"name_search", "_name_search"} and "display_name" not in texts:
        return paths
    return paths + [NAMED + name for name in texts if f"env['{name}']" in ast.unparse(node)]


def list_by_context(node: ast.AST) -> Iterator[ast.AST]:
    """What is done only if the context has a member: packages/odoo/src/fields/field-context.ts has such members."""
    for each in ast.walk(node):
        if isinstance(each, ast.If) and "context" in ast.unparse(each.test):
            yield from each.body


def mentions(node: ast.AST, names: list[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))


def find_searched(node: ast.AST) -> Iterator[str]:
    """The model of a call that searches records of another model by a domain, with ELSEWHERE behind it."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in DOMAINS:
        return
    for each in ast.walk(node.func.value):
        if isinstance(each, ast.Subscript) and ast.unparse(each.value).endswith("env"):
            if isinstance(each.slice, ast.Constant) and isinstance(each.slice.value, str):
                yield each.slice.value + ELSEWHERE


class Models:
    def __init__(self, classes: list[ModelClass]) -> None:
        self.classes: dict[str, list[ModelClass]] = {}
        for each in classes:
            self.classes.setdefault(each.name, []).append(each)

    def lineage(self, model: str, seen: tuple[str, ...] = ()) -> Iterator[ModelClass]:
        """The model's classes, the last one first, and then the classes that they inherit from."""
        own = list(reversed(self.classes.get(model, [])))
        yield from own
        for name in (name for each in own for name in each.inherit):
            if name != model and name not in seen:
                yield from self.lineage(name, (*seen, model))

    def find_field(self, model: str, name: str, depth: int = 0) -> Field | None:
        for each in self.lineage(model):
            if name in each.fields:
                return each.fields[name]
        parents = [parent for each in self.lineage(model) for parent in each.delegates]
        for parent in parents if depth < 3 else []:
            found = self.find_field(parent, name, depth + 1)
            if found is not None:
                return found
        return None

    def find_relation(self, model: str, name: str, depth: int = 0) -> str | None:
        """The model that a field leads to; None if the field leads to none, or its model is not known."""
        found = self.find_field(model, name)
        if found is None or found.type not in RELATIONS:
            return None
        comodel = found.keywords.get("comodel_name")
        if isinstance(comodel, str):
            return comodel
        related = found.keywords.get("related")
        path = related.split(".") if isinstance(related, str) else related
        at: str | None = model
        for part in path or () if depth < 5 else ():
            at = self.find_relation(at, part, depth + 1) if at is not None else None
        return at if path else None

    def list_paths(self, model: str) -> Iterator[str]:
        names: dict[str, object] = {}
        for each in self.lineage(model):
            for key, value in each.names.items():
                names.setdefault(key, value)
            for method in each.methods:
                for text in method.facts or () if method.name in SEARCHES else ():
                    if method.name == "_rec_names_search" or self.is_text_of_other(model, text):
                        yield text
        searched = names.get("_rec_names_search")
        if not isinstance(searched, (list, tuple)):
            searched = [names.get("_rec_name") or "name"]
        yield from (name for name in searched if isinstance(name, str))

    def list_searchable(self, model: str) -> Iterator[tuple[str, set[str]]]:
        """The fields of the model's own classes that have a search method, with the fields that the method compares."""
        for name in sorted({name for each in self.classes[model] for name in each.fields}):
            found = self.find_field(model, name)
            function = found.keywords.get("search") if found is not None else None
            if found is None or found.type not in KINDS or not isinstance(function, str):
                continue
            methods = (method for each in self.lineage(model) for method in each.methods if method.name == function)
            method = next(methods, None)
            texts = (method.facts if method is not None else None) or ()
            sources = {self.find_compared(model, text, KINDS[found.type]) for text in texts}
            # The field itself, and the names of the records that it leads to, are compared in any case.
            own = (None, f"{model}:{name}", self.find_relation(model, name))
            yield name, {source for source in sources if source not in own}

    def find_compared(self, model: str, path: str, kinds: set[str]) -> str | None:
        if path.startswith(NAMED):
            return path.removeprefix(NAMED)
        is_given = path.startswith(GIVEN)
        owner, elsewhere, rest = path.removeprefix(GIVEN).partition(ELSEWHERE)
        model, path = (owner, rest) if elsewhere else (model, owner)
        if is_given:
            # A text is compared with the names of the records that the path leads to.
            source = self.find_source(model, path)
            return source if kinds is TEXTS and source is not None and ":" not in source else None
        source = self.find_source(model, path) if "." in path else f"{model}:{path}"
        other, _, name = (source or "").partition(":")
        found = self.find_field(other, name)
        return source if found is not None and found.type in kinds else None

    def is_text_of_other(self, model: str, path: str) -> bool:
        source = self.find_source(model, path) if "." in path or ELSEWHERE in path else None
        other, _, name = (source or "").partition(":")
        found = self.find_field(other, name)
        return found is not None and found.type in TEXTS

    def find_source(self, model: str, path: str) -> str | None:
        """The field of another model that the path compares; None if it is a field of this model, or no path at all."""
        owner, elsewhere, rest = path.partition(ELSEWHERE)
        if elsewhere:
            own = f"{owner}:{rest}" if owner != model and self.find_field(owner, rest) is not None else None
            return self.find_source(owner, rest) or own
        at: str | None = model
        *before, last = path.split(".")
        for name in before:
            at = self.find_relation(at, name) if at is not None else None
        if at is None:
            return None
        relation = self.find_relation(at, last)
        if relation is not None:
            return relation
        return f"{at}:{last}" if before and self.find_field(at, last) is not None else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="+", metavar="VERSION=PATH")
    checkouts = find_checkouts(parser, parser.parse_args().checkouts)
    rows: dict[str, set[str]] = {}
    for path in checkouts.values():
        models = Models(read_checkout(path, list_texts))
        for model in models.classes:
            sources = {models.find_source(model, path) for path in models.list_paths(model)} - {None, model}
            if sources:
                rows.setdefault(model, set()).update(sources)
            for name, compared in models.list_searchable(model):
                if compared:
                    owner = "any" if models.classes[model][0].kind == "abstract" else model
                    rows.setdefault(f"{owner}/{name}", set()).update(compared)
    print("/**")
    print(f" * What searches by name and by some fields compare, in Odoo Community {', '.join(checkouts)}. Written by")
    print(" * scripts/odoo-tables/name_search_fields.py, which describes the form.")
    print(" */")
    print("export const NAME_SEARCHES = `")
    for model, sources in sorted(rows.items()):
        print(f"{model} {','.join(sorted(sources))}")
    print("`;")


if __name__ == "__main__":
    main()
