#!/usr/bin/env python3
"""Prints the members of a context that make Odoo change records of another model, or run a method.

Usage: context_effects.py 14=PATH 15=PATH ... > packages/odoo/src/sensitive/context-effects-data.ts

Each PATH is a checkout, as for read_odoo.py. A member is found if a function does one of these things only with it:

- it creates, writes or deletes records of another model than its own, or of its own model if the function is none of
  the ORM that does so
- it calls a public method that is none of the ORM's and has an effect, of any model
- it calls a private method that does so itself, or by one private method that it calls: which records these change

The output has one line for each member, with the models and methods. It holds for calls of all models, because a
context reaches everything that a method calls. A second list has the members with an effect while records are read: in
a method that computes a field which is not stored, or in one that such a method calls on its own records. Left out are
`default_*` and the active records, for which a policy has rules of their own. `context_effects` of review.json has what
else is left out. With `--rows`, prints the functions behind each line, for the review.

Not seen are effects that happen without a member, members that pass through variables of more than two steps, and what
a private method does because a member is one of its arguments.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from data_flow import FunctionNode
from effect_flow import FOLLOWS, MAILS, Effect, EffectFacts, Keys, _EffectTrace
from field_sources import Sources
from odoo_sources import CORE_MODEL, find_checkouts, read_checkout
from value_flow import NOTHING
from written_models import CREATES, TELLING, WRITES, Finder

REVIEW = Path(__file__).with_name("review.json")
ORM = CREATES | WRITES | {"unlink"}
# Functions that compute a field of their own model, and those of the classes of fields.
COMPUTING = ("_compute_", "_inverse_", "_search_", "_onchange_", "onchange_", "<")
# Maximum number of calls that are followed from a method that computes a field.
READ_DEPTH_MAX = 2
# Maximum number of private methods that are followed, each called by the one before.
PRIVATE_DEPTH_MAX = 2
ACTIVE = {"active_id", "active_ids", "active_model"}

# Functions by member, model and method.
Rows = dict[tuple[str, str, str], set[str]]


class _ContextTrace(_EffectTrace):
    """Finds the effects of a function, with the members of the context without which they do not happen."""

    def _list_looked_up(self, node: ast.AST) -> Iterator[str]:
        yield from self._keys_of(node)

    def _keys_within(self, node: ast.AST, depth: int = 0) -> Keys:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) and not self._is_negative(node):
            # What must be absent causes nothing.
            parts = (each for each in node.values if not self._is_negative(each))
            return NOTHING.union(*(self._keys_within(each, depth) for each in parts))
        return super()._keys_within(node, depth)

    def _is_negative(self, test: ast.expr) -> bool:
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is):
            return isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
        if isinstance(test, ast.Call) and len(test.args) > 1 and any(True for _ in self._keys_of(test)):
            # The default that holds without the member.
            return isinstance(test.args[1], ast.Constant) and bool(test.args[1].value)
        return super()._is_negative(test)

    def _keys_of_arguments(self, method: str, given: list[ast.expr]) -> Keys:
        # An argument does not decide whether a private method runs.
        is_followed = method.startswith("_") and method not in ORM | MAILS | FOLLOWS
        return NOTHING if is_followed else super()._keys_of_arguments(method, given)


def trace_context(node: FunctionNode, parameters: list[str], constants: dict[str, object]) -> EffectFacts:
    return _ContextTrace(node, parameters, constants).find()


class ContextFinder(Finder):
    """What the members of a context do; unlike a Finder, for all functions of a version."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.core = sources.models[CORE_MODEL].methods if CORE_MODEL in sources.models else {}

    def list_of_reads(self) -> set[str]:
        """The methods that Odoo runs while records are read."""
        found: set[str] = set()
        for model, known in self.sources.models.items():
            computes = {each.get("compute") for each in known.fields.values() if not each.get("store")}
            pending = [(name, 0) for name in computes if isinstance(name, str)]
            while pending:
                name, depth = pending.pop()
                if f"{model}.{name}" in found or depth > READ_DEPTH_MAX or name in ORM:
                    continue
                found.add(f"{model}.{name}")
                for definition in self.sources.methods_of(model, name):
                    for effect in definition.facts.effects:
                        if any(path[0] == "self" and len(path) == 1 for path in effect.records):
                            pending.append((effect.method, depth + 1))
        return found

    def collect(self) -> Iterator[tuple[str, str, str, str]]:
        """Each member with a model, a method, and the function that needs the member."""
        for model, known in self.sources.models.items():
            for name, definitions in known.methods.items():
                if not name.startswith(COMPUTING):
                    for effect in (effect for each in definitions for effect in each.facts.effects if effect.keys):
                        for place in self._list_places(effect.records, model):
                            for other, method in self._list_effects(model, name, place.model, effect):
                                yield from ((key, other, method, f"{model}.{name}") for key in effect.keys)

    def _list_effects(
        self, model: str, function: str, other: str, effect: Effect, depth: int = 0
    ) -> Iterator[tuple[str, str]]:
        """The models and methods that an effect reaches in records of the other model."""
        hits = list(self._list_hits(other, effect, "", "context"))
        for hit in hits:
            if hit.model != model or function not in ORM:
                yield hit.model, hit.method
        called = effect.method
        if hits or called in self.core or called in TELLING | FOLLOWS or not self.sources.methods_of(other, called):
            return
        if not called.startswith("_"):
            if any(True for _ in self._follow(other, called, "context")):
                yield other, called
        elif depth < PRIVATE_DEPTH_MAX:
            for further in (each for known in self.sources.methods_of(other, called) for each in known.facts.effects):
                for place in self._list_places(further.records, other):
                    yield from self._list_effects(other, called, place.model, further, depth + 1)


def list_members(finder: ContextFinder, review: dict) -> Iterator[tuple[str, str, str, str]]:
    for key, model, method, function in finder.collect():
        is_known = key.startswith("default_") or key in ACTIVE or not model
        if not is_known and not is_left_out(key, f"{model}/{method}", review):
            yield key, model, method, function


def is_left_out(key: str, target: str, review: dict) -> bool:
    return any(
        any(fnmatchcase(key, pattern) for pattern in row["members"])
        and any(fnmatchcase(target, pattern) for pattern in row.get("targets", ["*"]))
        for row in review["context_effects"]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", action="store_true", help="print the functions behind each line, for the review")
    parser.add_argument("--review", type=Path, default=REVIEW, help="the reviewed rows; default: review.json")
    parser.add_argument("checkouts", nargs="+", metavar="VERSION=PATH", help="version and folder with odoo/addons")
    options = parser.parse_args()
    checkouts = find_checkouts(parser, options.checkouts)
    review = json.loads(options.review.read_text(encoding="utf-8"))
    rows: Rows = {}
    of_reads: set[str] = set()
    for version, path in checkouts.items():
        finder = ContextFinder(Sources(read_checkout(path, trace_context)))
        functions = finder.list_of_reads()
        for key, model, method, function in list_members(finder, review):
            rows.setdefault((key, model, method), set()).add(f"{version} {function}")
            if function in functions:
                of_reads.add(key)
    for line in describe(rows) if options.rows else render(rows, of_reads, list(checkouts)):
        print(line)


def describe(rows: Rows) -> Iterator[str]:
    for (key, model, method), functions in sorted(rows.items()):
        yield f"{key} {model}/{method}"
        yield from (f"    {function}" for function in sorted(functions))


def render(rows: Rows, of_reads: set[str], versions: list[str]) -> Iterator[str]:
    yield "/**"
    yield f" * Members of a context with which Odoo Community {', '.join(versions)} changes records of other models."
    yield " * Written by scripts/odoo-tables/context_effects.py, which describes the form: change its review.json."
    yield " */"
    yield "export const CONTEXT_EFFECTS = `"
    lines: dict[str, list[str]] = {}
    for key, model, method in sorted(rows):
        lines.setdefault(key, []).append(f"{model}/{method}")
    yield from (" ".join([key, *targets]) for key, targets in lines.items())
    yield "`;"
    yield ""
    yield "/** Those with an effect while records are read. */"
    yield "export const EFFECTS_OF_READS = `"
    yield from sorted(of_reads)
    yield "`;"


if __name__ == "__main__":
    main()
