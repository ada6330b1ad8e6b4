#!/usr/bin/env python3
"""Prints the methods that `*` stands for in `models` of a policy, from tables of several versions of Odoo.

Usage: known_methods.py --former known-methods-data.ts 14.json … 19.json > new.ts

The arguments are outputs of read_odoo.py, and a former output of this script: a checkout is one state of a version,
and servers run others. So a method that the former output leaves out stays out, unless review.json has it, and one
that only the former output has keeps its class.

A method of a model is known if a version defines it on the model or on one that it inherits, and if no version has a
reason why it reaches more than its records. A reason counts if one of its sources is no key of the context, or a key
that a function of the model, or of a mixin of it, uses for it. Keys that only functions of other models use do not
count: almost every method would have them, by what sends its mail. review.json overrules the tables in both directions.
Each of its rows has been read in the sources.

The output has names only, one model a line:

- names without a sign are known
- `-REASON` begins the names that are left out for this reason, which read_odoo.py describes; `passed_on`: a method that
  is called has one
- `base` has its methods and those of mixins. They hold for every model whose own line does not have them, because a
  custom model can inherit them.

With `--rows`, prints each method that is left out with its reasons, for the review.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

REVIEW = Path(__file__).with_name("review.json")
CORE_MODEL = "base"
CONTEXT_PREFIX = "context."
# A model counts as a mixin for everybody if models of at least this number of modules inherit it.
MIXIN_MODULES_MIN = 4
PASSED_ON = "passed_on"
# Reasons in order of precedence: the first reason that a method has is printed.
REASONS = [
    "model", "method", "code", "sql", "render", "ref", "credential", "guarded", "values_elsewhere",
    "fields_elsewhere", "domain_elsewhere", "sender", "records_elsewhere", "read_elsewhere", "domain", "path",
    "context", "sudo", PASSED_ON, "review",
]  # fmt: skip

Json = dict[str, object]
# Reasons with their sources. A method without reasons is known.
Reasons = dict[str, set[str]]
# Methods by model.
Models = dict[str, dict[str, Reasons]]


@dataclass
class Review:
    """The rows of review.json, by the names in them."""

    # Context keys that cannot select anything.
    harmless_keys: set[str]
    # Methods, as `model/method`.
    known: set[str]
    left_out: set[str]

    @staticmethod
    def read(path: Path) -> Review:
        rows = json.loads(path.read_text(encoding="utf-8"))
        known, left_out = (
            {f"{model}/{method}" for row in rows[class_name] for model in row["models"] for method in row["methods"]}
            for class_name in ("known", "left_out")
        )
        return Review({row["key"] for row in rows["context"]}, known, left_out)

    def check(self, model: str, method: str, reasons: Reasons) -> Reasons:
        names = {f"{model}/{method}", f"*/{method}"}
        if names & self.left_out:
            return {"review": {REVIEW.name}}
        return {} if self.knows(model, method) else reasons

    def knows(self, model: str, method: str) -> bool:
        return bool({f"{model}/{method}", f"*/{method}"} & self.known)


class Version:
    """The models of one version, with the reasons of their methods."""

    def __init__(self, tables: Json, review: Review) -> None:
        self.name = tables["version"]
        models: dict[str, Json] = tables["models"]
        self.parents = {name: model.get("inherit", []) for name, model in models.items()}
        self.keys = {name: set(_list_direct_keys(model, review)) for name, model in models.items()}
        self.methods = {
            name: {
                method: review.check(name, method, self._count_reasons(name, described))
                for method, described in model.get("methods", {}).items()
            }
            for name, model in models.items()
        }
        self.mixins = {CORE_MODEL} | {name for name, model in models.items() if self._is_mixin(name, model, models)}

    def _is_mixin(self, name: str, model: Json, models: dict[str, Json]) -> bool:
        """Whether modules of other authors are likely to inherit the model."""
        heirs = [heir for heir, parents in self.parents.items() if name in parents]
        modules = {module for heir in heirs for module in models[heir].get("defined_by", ())}
        return model["kind"] == "abstract" and len(modules) >= MIXIN_MODULES_MIN

    def list_methods(self, model: str) -> dict[str, Reasons]:
        """The methods of the model and of the models that it inherits, with the reasons of all their definitions."""
        methods: dict[str, Reasons] = {}
        for ancestor in self._list_ancestors(model):
            _merge(methods, self.methods.get(ancestor, {}))
        return methods

    def _count_reasons(self, model: str, described: Json) -> Reasons:
        """Reasons of the method's own body, or `passed_on` if it has reasons only because of methods that it calls."""
        reasons: dict[str, list[str]] = described.get("reasons", {})
        own = {key for name in self._list_ancestors(model) for key in self.keys.get(name, ())}
        counted = {
            reason: {
                source for source in sources if not source.startswith(CONTEXT_PREFIX) or (reason, source) in own
            }
            for reason, sources in reasons.items()
        }
        counted = {reason: sources for reason, sources in counted.items() if sources}
        direct = {reason: sources for reason, sources in counted.items() if reason in described.get("direct", ())}
        return direct or ({PASSED_ON: set().union(*counted.values())} if counted else {})

    def _list_ancestors(self, model: str) -> list[str]:
        found: list[str] = []
        pending = [model, CORE_MODEL]
        while pending:
            name = pending.pop()
            if name not in found:
                found.append(name)
                pending.extend(self.parents.get(name, ()))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints the methods that `*` stands for in a policy.")
    parser.add_argument("--rows", action="store_true", help="print what is left out, for the review")
    parser.add_argument("--review", type=Path, default=REVIEW, help="the reviewed rows; default: review.json")
    parser.add_argument("--former", type=Path, help="former output, which the new one does not contradict")
    parser.add_argument("tables", type=Path, nargs="+", help="outputs of read_odoo.py")
    options = parser.parse_args()
    review = Review.read(options.review)
    versions = [Version(json.loads(path.read_text(encoding="utf-8")), review) for path in options.tables]
    former = read_former(options.former) if options.former else {}
    models = collect(versions, former, review)
    for line in render_rows(models) if options.rows else render(versions, models):
        print(line)


def read_former(path: Path) -> Models:
    """The models of an output of this script. A reason has no sources."""
    models: Models = {}
    for line in path.read_text(encoding="utf-8").split("`")[-2].strip().splitlines():
        name, *words = line.split(" ")
        reasons: Reasons = {}
        for word in words:
            if word.startswith("-"):
                reasons = {word[1:]: set()}
            else:
                models.setdefault(name, {})[word] = reasons
    return models


def _add_former(models: Models, former: Models, review: Review) -> None:
    for name, methods in former.items():
        known = models.setdefault(name, {})
        for method, reasons in methods.items():
            known.setdefault(method, reasons)
    every = former.get(CORE_MODEL, {})
    for name, methods in models.items():
        for method, reasons in methods.items():
            if not reasons and not review.knows(name, method):
                methods[method] = former.get(name, {}).get(method, every.get(method, {}))


def collect(versions: Iterable[Version], former: Models, review: Review) -> Models:
    """Methods by model; those of mixins under `base`. Methods with the same class as in `base` are left out."""
    models: Models = {CORE_MODEL: {}}
    for version in versions:
        for mixin in sorted(version.mixins):
            _merge(models[CORE_MODEL], version.list_methods(mixin))
        for name in version.methods.keys() - {CORE_MODEL}:
            _merge(models.setdefault(name, {}), version.list_methods(name))
    _add_former(models, former, review)
    every = models[CORE_MODEL]
    for name, methods in models.items():
        if name != CORE_MODEL:
            models[name] = {
                method: reasons
                for method, reasons in methods.items()
                if method not in every or bool(reasons) != bool(every[method])
            }
    return {name: methods for name, methods in sorted(models.items()) if methods}


def render(versions: Iterable[Version], models: Models) -> Iterator[str]:
    names = ", ".join(str(version.name) for version in versions)
    yield "/**"
    yield " * The methods that `*` stands for in `models` of a policy, and those that are left out with a reason. Data, in"
    yield " * the form that known-methods.ts reads. Written by scripts/odoo-tables/known_methods.py: change its review.json."
    yield f" * From the sources of Odoo Community {names}."
    yield " */"
    yield "export const KNOWN_METHODS = `"
    for name, methods in models.items():
        sections: dict[str, list[str]] = {}
        for method, reasons in sorted(methods.items()):
            sections.setdefault(_find_class(reasons), []).append(method)
        words = [name, *sections.pop("", [])]
        for reason in sorted(sections):
            words += [f"-{reason}", *sections[reason]]
        yield " ".join(words)
    yield "`;"


def render_rows(models: Models) -> Iterator[str]:
    for name, methods in models.items():
        for method, reasons in sorted(methods.items()):
            if reasons:
                described = {reason: sorted(sources) for reason, sources in reasons.items()}
                yield f"{name} {method} {json.dumps(described, sort_keys=True)}"


def _list_direct_keys(model: Json, review: Review) -> Iterator[tuple[str, str]]:
    """Yields the reasons that functions of the model have because they read a context key, each with the key as its
    source."""
    for key, functions in model.get("context", {}).items():
        if key in review.harmless_keys:
            continue
        for read in functions.values():
            for reason in read.get("direct", ()):
                yield reason, CONTEXT_PREFIX + key


def _merge(methods: dict[str, Reasons], others: dict[str, Reasons]) -> None:
    for method, reasons in others.items():
        merged = methods.setdefault(method, {})
        for reason, sources in reasons.items():
            merged[reason] = merged.get(reason, set()) | sources


def _find_class(reasons: Reasons) -> str:
    """The reason for which the method is left out. Empty: the method is known."""
    return next((reason for reason in REASONS if reason in reasons), "")


if __name__ == "__main__":
    main()
