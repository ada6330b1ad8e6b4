#!/usr/bin/env python3
"""Prints which public methods of Odoo write values that their caller gives, and to records of which models.

Usage: written_methods.py 14=PATH 15=PATH ... > packages/odoo/src/written-methods-data.ts

Each PATH is a checkout, as for read_odoo.py. A method is found if the value of a parameter becomes

- a value of `create`, `write` or a similar method, or of an assignment to a field
- an argument of a method that does so, up to a depth

Conditions do not count: `set_done(flag)` writes a constant if it tests the flag only. Methods of the ORM are left out,
as equivalent-methods.ts has what they do. Messages and activities do not count. `written_methods` of review.json has
methods and models that are left out.

In the output, each line is a model with words of the form `method=target,target`. A target is `create` or `write` for
records of the model itself, and `model/create` or `model/write` for those of another one. `?` after the name of a
method says that it writes only values that a call can leave out, and whose defaults are empty.

With `--rows`, prints versions and parameters too.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from effect_flow import ANYTHING, ASSIGNMENT, SENDING, _EffectTrace
from field_sources import Sources
from odoo_sources import CORE_MODEL, Method, read_checkout
from value_flow import SAME_RECORDS, SELF, WITHOUT_VALUE, FunctionNode, Value, _name_of
from written_models import CREATES, REVIEW, TELLING, WRITES, Finder, Place

# Maximum numbers of calls that are followed to writes of the model itself, and of other models.
DEPTH_MAX = 6
OTHERS_DEPTH_MAX = 1
WITHOUT_IDS = {"model", "model_create_multi"}
Parameters = frozenset
NO_PARAMETERS: Parameters = frozenset()


class PassingEffect(NamedTuple):
    """An effect with the parameters of the function from which its arguments are derived."""

    records: Value
    method: str
    fields: frozenset
    positional: tuple[Parameters, ...]
    named: tuple[tuple[str, Parameters], ...]
    rest: Parameters

    @property
    def parameters(self) -> Parameters:
        return self.rest.union(*self.positional, *(given for _, given in self.named))


@dataclass
class PassingFacts:
    effects: list[PassingEffect] = field(default_factory=list)
    # Parameters that a call can leave out. Their defaults are no values.
    optional: Parameters = NO_PARAMETERS


def trace_passing(node: FunctionNode, parameters: list[str], constants: dict[str, object]) -> PassingFacts:
    return _PassingTrace(node, parameters, constants).list_passing()


class _PassingTrace(_EffectTrace):
    def list_passing(self) -> PassingFacts:
        self.passing = PassingFacts(optional=_list_optional(self.node))
        for node in self.nodes:
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self._pass_assignment(target, node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                self._pass_call(node, node.func.value)
        return self.passing

    def _pass_assignment(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._pass_assignment(element, value)
            return
        names: list[str] = []
        if isinstance(target, ast.Attribute):
            names = [target.attr]
        elif isinstance(target, ast.Subscript) and not self._is_plain(target.value):
            names = self._constants_of(target.slice)
        if names:
            self._pass(self.value(target.value), ASSIGNMENT, names, [value], [])

    def _pass_call(self, node: ast.Call, receiver: ast.expr) -> None:
        is_super = isinstance(receiver, ast.Call) and _name_of(receiver.func) == "super"
        name = node.func.attr  # type: ignore[attr-defined]
        if is_super and name == self.node.name:
            return
        records: Value = frozenset({SELF}) if is_super else frozenset()
        if not is_super and not self._is_plain(receiver):
            records = frozenset({ANYTHING}) if self._is_any_model(receiver) else self.value(receiver)
        fields = [name for argument in node.args[:1] for name, _ in self._entries(argument)]
        self._pass(records, name, fields, node.args, node.keywords)

    def _pass(
        self, records: Value, method: str, fields: list[str], positional: list[ast.expr], named: list[ast.keyword]
    ) -> None:
        if not records:
            return
        rest = [each.value for each in positional if isinstance(each, ast.Starred)]
        rest += [each.value for each in named if each.arg is None]
        effect = PassingEffect(
            records,
            method,
            frozenset(fields),
            tuple(self._list_parameters(each) for each in positional if not isinstance(each, ast.Starred)),
            tuple((each.arg, self._list_parameters(each.value)) for each in named if each.arg),
            NO_PARAMETERS.union(*map(self._list_parameters, rest)),
        )
        if effect.parameters:
            self.passing.effects.append(effect)

    def _value_of_call(self, node: ast.Call) -> Value:
        value = super()._value_of_call(node)
        name = _name_of(node.func)
        if not isinstance(node.func, ast.Attribute) or name in SAME_RECORDS | WITHOUT_VALUE:
            return value
        # The result of a method can have values of its arguments.
        given = self._join([*node.args, *(keyword.value for keyword in node.keywords)])
        return value | frozenset((path[0],) for path in given if path[0] in self.roots)

    def _list_parameters(self, node: ast.expr) -> Parameters:
        return frozenset(path[0][1:] for path in self.value(node) if path[0] in self.roots)


def _list_optional(node: FunctionNode) -> Parameters:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults)]
    pairs += [pair for pair in zip(arguments.kwonlyargs, arguments.kw_defaults) if pair[1] is not None]
    names = [each.arg for each, default in pairs if _is_empty(default)]
    names += [each.arg for each in (arguments.vararg, arguments.kwarg) if each]
    return frozenset(names)


def _is_empty(default: ast.expr) -> bool:
    """Whether a default is no value."""
    try:
        return not ast.literal_eval(default)
    except (ValueError, TypeError):
        return False


class Written(NamedTuple):
    """Records to which a method writes the values of parameters."""

    # Empty: the model of the method itself.
    model: str
    method: str


class MethodFinder(Finder):
    """Finds what the public methods of a version write."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    def list_methods(self) -> Iterator[tuple[str, str, dict[str, set[Written]], bool]]:
        """Each public method with what each of its parameters is written to, and whether all can be left out."""
        for name in self.sources.models.keys() - {CORE_MODEL}:
            for method in self.list_public(name):
                definitions = self.sources.methods_of(name, method)
                parameters = {each.lstrip("*") for definition in definitions for each in definition.parameters}
                written = {each: set(self._follow_parameter(name, method, each)) for each in sorted(parameters)}
                written = {each: found for each, found in written.items() if found}
                if written:
                    yield name, method, written, all(_is_optional(each, written.keys()) for each in definitions)

    def _follow_parameter(self, model: str, method: str, parameter: str) -> Iterator[Written]:
        pending = [(model, method, parameter, True, 0)]
        seen: set[tuple] = set()
        while pending:
            # The shortest way comes first.
            mark = pending.pop(0)
            model, method, parameter, is_own, depth = mark
            if mark[:4] in seen or depth > DEPTH_MAX:
                continue
            seen.add(mark[:4])
            for definition in self.sources.methods_of(model, method):
                for effect in definition.facts.effects:
                    if parameter not in effect.parameters:
                        continue
                    for place in self._list_places(effect.records, model):
                        if place.model not in self.sources.models:
                            continue
                        if effect.method in TELLING | SENDING:
                            continue
                        found = self._find_written(place, effect, is_own and place.is_own)
                        if found is not None:
                            if found.model == "" or depth <= OTHERS_DEPTH_MAX:
                                yield found
                            continue
                        for callee in self.sources.methods_of(place.model, effect.method):
                            for name in _list_passed(effect, callee, parameter):
                                pending.append((place.model, effect.method, name, is_own and place.is_own, depth + 1))

    def _find_written(self, place: Place, effect: PassingEffect, is_own: bool) -> Written | None:
        model = "" if is_own else place.model
        if effect.method == ASSIGNMENT:
            is_field = bool(effect.fields & self.sources.models[place.model].fields.keys())
            return Written(model, "write") if is_field else None
        if effect.method in CREATES:
            return Written(model, "create")
        is_write = effect.method in WRITES and effect.method != "update"
        return Written(model, "write") if is_write else None


def _is_optional(method: Method, parameters: Iterable[str]) -> bool:
    """Whether a call can leave out the parameters, so that it has the ids of records only."""
    own = {name.lstrip("*") for name in method.parameters}
    return method.facts.optional >= own.intersection(parameters) and not method.decorators & WITHOUT_IDS


def _list_passed(effect: PassingEffect, callee: Method, parameter: str) -> Iterator[str]:
    """The parameters of a called method that get a value of the parameter."""
    names = [name for name in callee.parameters if not name.startswith("**")]
    for index, given in enumerate(effect.positional):
        if parameter in given and index < len(names):
            yield names[index].lstrip("*")
    for name, given in effect.named:
        if parameter in given:
            known = [each for each in callee.parameters if each == name or each.startswith("**")]
            yield from (each.lstrip("*") for each in known[:1])
    if parameter in effect.rest:
        yield from (name.lstrip("*") for name in callee.parameters)


@dataclass
class Review:
    """The part `written_methods` of review.json."""

    # Patterns of methods that are left out.
    methods: list[str]
    # Models whose records do not count.
    models: set[str]

    @staticmethod
    def read(path: Path) -> Review:
        rows = json.loads(path.read_text(encoding="utf-8"))["written_methods"]
        return Review(
            [method for row in rows for method in row.get("methods", ())],
            {model for row in rows for model in row.get("models", ())},
        )


@dataclass
class Row:
    """What a method of a model writes, merged over all versions."""

    targets: set[str] = field(default_factory=set)
    is_optional: bool = True
    # Versions with parameters, for the review.
    found: dict[str, set[str]] = field(default_factory=dict)


Rows = dict[str, dict[str, Row]]


def collect(version: str, finder: MethodFinder, rows: Rows, review: Review) -> None:
    for model, method, written, is_optional in finder.list_methods():
        if any(fnmatchcase(method, pattern) for pattern in review.methods):
            continue
        targets = {
            f"{each.model}/{each.method}" if each.model else each.method
            for found in written.values()
            for each in found
            if each.model not in review.models and each.model != model
        }
        row = rows.setdefault(model, {}).setdefault(method, Row())
        row.targets |= targets
        row.is_optional &= is_optional
        row.found.setdefault(version, set()).update(written)


def render_words(rows: Rows) -> Iterator[tuple[str, dict[str, str]]]:
    """The words of each model by method."""
    for model, methods in sorted(rows.items()):
        words = {
            method: f"{method}{'?' if row.is_optional else ''}={','.join(sorted(row.targets))}"
            for method, row in sorted(methods.items())
            if row.targets
        }
        if words:
            yield model, words


def render(versions: list[str], rows: Rows) -> Iterator[str]:
    yield "/**"
    yield f" * Public methods of Odoo Community {', '.join(versions)} that write values of their caller."
    yield " * Written by scripts/odoo-tables/written_methods.py, which describes the form: change its review.json."
    yield " */"
    yield "export const WRITTEN_METHODS = `"
    for model, words in render_words(rows):
        yield " ".join([model, *words.values()])
    yield "`;"


def render_rows(rows: Rows) -> Iterator[str]:
    for model, words in render_words(rows):
        for method, word in words.items():
            found = rows[model][method].found
            described = [f"{version}:{','.join(sorted(names))}" for version, names in found.items()]
            yield " ".join([model, word, *described])


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints which public methods write values of their caller.")
    parser.add_argument("--rows", action="store_true", help="print versions and parameters too, for the review")
    parser.add_argument("--review", type=Path, default=REVIEW, help="the reviewed rows; default: review.json")
    parser.add_argument("checkouts", nargs="+", metavar="VERSION=PATH", help="version and folder with odoo/addons")
    options = parser.parse_args()
    review = Review.read(options.review)
    rows: Rows = {}
    versions: list[str] = []
    for each in options.checkouts:
        version, _, path = each.partition("=")
        if not (Path(path) / "odoo" / "addons").is_dir():
            parser.error(f"{path} has no folder odoo/addons")
        versions.append(version)
        collect(version, MethodFinder(Sources(read_checkout(Path(path), trace_passing))), rows, review)
    for line in render_rows(rows) if options.rows else render(versions, rows):
        print(line)


if __name__ == "__main__":
    main()
