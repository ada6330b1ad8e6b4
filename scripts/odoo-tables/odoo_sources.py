"""Reads the classes of Odoo's models from a checkout, without importing them.

A class is reduced to plain data (`ModelClass`) as soon as its file is parsed, so that a checkout with a
thousand modules fits into memory. The analysis of function bodies is in data_flow.py.
"""

from __future__ import annotations

import argparse
import ast
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from data_flow import FunctionNode, analyze_function

LICENSE = "LGPL-3"
MODEL_BASES = {"Model", "AbstractModel", "TransientModel", "BaseModel"}
CORE_MODULE = "odoo"
CORE_MODEL = "base"
SKIPPED_FOLDERS = {"tests", "migrations", "upgrades", "upgrade_code", "static", "doc", "__pycache__"}

# Attributes of a class that are kept.
NAMES = ("_rec_name", "_rec_names_search", "_auto", "_table")

# Keywords of a field that name functions which Odoo calls for it.
FIELD_FUNCTIONS = ("compute", "inverse", "search", "default", "selection", "domain", "group_expand")


# Reduces the body of a function, with its parameters and the constants that it can name, to facts.
Analyzer = Callable[[FunctionNode, "list[str]", "dict[str, object]"], Any]


@dataclass
class Field:
    """The keywords of one definition of a field. A later definition replaces only the keywords that it gives."""

    type: str
    keywords: dict[str, object]


@dataclass
class Method:
    name: str
    # The parameters without `self` or `cls`. The last ones can be `*args` and `**kwargs`.
    parameters: list[str]
    decorators: set[str]
    depends: list[str]
    # The result of the analyzer.
    facts: Any


@dataclass
class ModelClass:
    """One class that defines or extends a model."""

    name: str
    module: str
    inherit: list[str]
    delegates: dict[str, str]
    kind: str
    analyze: Analyzer
    fields: dict[str, Field] = field(default_factory=dict)
    methods: list[Method] = field(default_factory=list)
    # Those of NAMES that the class sets to constants.
    names: dict[str, object] = field(default_factory=dict)

    @property
    def is_definition(self) -> bool:
        return self.name not in self.inherit


def find_checkouts(parser: argparse.ArgumentParser, given: list[str]) -> dict[str, Path]:
    """The folders of checkouts by version. If one is no checkout, ends the program with what to give instead."""
    found: dict[str, Path] = {}
    for each in given:
        version, _, path = each.partition("=")
        if not version.isdigit() or path == "":
            parser.error(f"{each!r} is not of the form VERSION=PATH: give a version and a folder, as in 18=../odoo-18")
        if not (Path(path) / "odoo" / "addons" / "base").is_dir():
            parser.error(f"{path!r} is no checkout of Odoo: give the folder that contains odoo/addons/base")
        if version in found:
            parser.error(f"version {version} is given twice: give each version once")
        found[version] = Path(path)
    return found


def read_checkout(root: Path, analyze: Analyzer = analyze_function) -> list[ModelClass]:
    """Returns the classes in the order in which Odoo loads them: the framework, then modules after dependencies."""
    classes = list(_read_core(root / "odoo", analyze))
    for folder in _sort_modules(find_modules(root)):
        classes.extend(_read_module(folder.name, _list_files(folder), analyze))
    return classes


def _read_core(folder: Path, analyze: Analyzer) -> Iterator[ModelClass]:
    """The framework's own model classes, and the functions of its field classes, as classes of the model `base`."""
    files = [folder / name for name in ("models.py", "fields.py")]
    files += sorted((folder / "orm").glob("*.py"))
    for path in files:
        tree = _parse(path) if path.exists() else None
        if tree is None:
            continue
        constants = _read_constants(tree.body)
        for node in tree.body:
            if not isinstance(node, ast.ClassDef):
                continue
            model = ModelClass(CORE_MODEL, CORE_MODULE, [], {}, "abstract", analyze)
            if node.name in MODEL_BASES:
                _read_body(node, model, constants)
                yield model
            elif path.stem.startswith("fields"):
                _read_body(node, model, constants)
                # These functions are not methods of the model, but read the context of calls of it.
                for method in model.methods:
                    method.name = f"<{node.name}.{method.name}>"
                model.fields = {}
                yield model


def find_modules(root: Path) -> dict[str, tuple[Path, list[str]]]:
    """Folders and dependencies of the modules to read, by name."""
    modules: dict[str, tuple[Path, list[str]]] = {}
    for addons in (root / "odoo" / "addons", root / "addons"):
        for manifest_path in sorted(addons.glob("*/__manifest__.py")):
            folder = manifest_path.parent
            try:
                manifest = ast.literal_eval(manifest_path.read_text(encoding="utf-8"))
            except (SyntaxError, ValueError) as error:
                print(f"skipped {folder.name}: {error}", file=sys.stderr)
                continue
            is_free = manifest.get("license", LICENSE) == LICENSE
            is_test = folder.name.startswith("test_")
            if is_free and not is_test and manifest.get("installable", True):
                modules.setdefault(folder.name, (folder, list(manifest.get("depends", []))))
    return modules


def _sort_modules(modules: dict[str, tuple[Path, list[str]]]) -> list[Path]:
    done: dict[str, Path] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in done or name in path or name not in modules:
            return
        folder, depends = modules[name]
        for dependency in sorted(depends) or ["base"]:
            visit(dependency, (*path, name))
        done[name] = folder

    for name in sorted(modules):
        visit(name, ())
    return list(done.values())


def _list_files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*.py")
        if not SKIPPED_FOLDERS.intersection(path.relative_to(folder).parts[:-1])
        and path.name != "__manifest__.py"
    )


def _read_module(module: str, files: Iterable[Path], analyze: Analyzer) -> Iterator[ModelClass]:
    trees = [tree for tree in map(_parse, files) if tree is not None]
    # Classes that define no model, but whose methods a model class can inherit in Python.
    plain = {
        node.name: (node, _read_constants(tree.body))
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not _is_model_class(node)
    }
    for tree in trees:
        constants = _read_constants(tree.body)
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef) or not _is_model_class(node):
                continue
            model = _describe_class(node, module, analyze)
            if model is None:
                continue
            for base in _list_plain_bases(node, plain):
                _read_body(base[0], model, base[1])
            _read_body(node, model, constants)
            yield model


def _parse(path: Path) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:
        print(f"skipped {path.name}: {error}", file=sys.stderr)
        return None


def _is_model_class(node: ast.ClassDef) -> bool:
    return any(_last_name(base) in MODEL_BASES for base in node.bases)


def _describe_class(node: ast.ClassDef, module: str, analyze: Analyzer) -> ModelClass | None:
    attributes = _read_constants(node.body)
    if attributes.get("_register") is False:
        return None
    given = attributes.get("_inherit")
    inherit = [given] if isinstance(given, str) else [name for name in given or () if isinstance(name, str)]
    name = attributes.get("_name") or (inherit[0] if len(inherit) == 1 else None)
    if not isinstance(name, str):
        return None
    delegates = attributes.get("_inherits")
    bases = {_last_name(base) for base in node.bases}
    is_abstract = attributes.get("_abstract", "AbstractModel" in bases)
    is_transient = attributes.get("_transient", "TransientModel" in bases)
    kind = "abstract" if is_abstract else "transient" if is_transient else "stored"
    delegates = delegates if isinstance(delegates, dict) else {}
    names = {key: attributes[key] for key in NAMES if key in attributes}
    return ModelClass(name, module, inherit, delegates, kind, analyze, names=names)


def _list_plain_bases(
    node: ast.ClassDef, plain: dict[str, tuple[ast.ClassDef, dict[str, object]]], seen: tuple[str, ...] = ()
) -> Iterator[tuple[ast.ClassDef, dict[str, object]]]:
    for base in node.bases:
        name = _last_name(base)
        if name in plain and name not in seen:
            yield from _list_plain_bases(plain[name][0], plain, (*seen, name))
            yield plain[name]


def _read_body(node: ast.ClassDef, model: ModelClass, constants: dict[str, object]) -> None:
    """Adds the fields and methods of a class to its model."""
    constants = {**constants, **_read_constants(node.body)}
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            model.methods.append(_read_method(statement, constants, model.analyze))
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if isinstance(statement.value, ast.Call):
                _read_field(name, statement.value, model, constants)
            elif isinstance(statement.value, ast.Name):
                # The statement gives a method a second name.
                for method in [known for known in model.methods if known.name == statement.value.id]:
                    model.methods.append(
                        Method(name, method.parameters, method.decorators, method.depends, method.facts)
                    )


def _read_field(name: str, call: ast.Call, model: ModelClass, constants: dict[str, object]) -> None:
    function = call.func
    if not (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "fields"
        and function.attr[:1].isupper()
    ):
        return
    keywords: dict[str, object] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            continue
        value = _evaluate(keyword.value, constants)
        if keyword.arg in FIELD_FUNCTIONS:
            value = _read_field_function(name, keyword, value, model, constants)
        if value is not None:
            keywords[keyword.arg] = value
    if call.args and function.attr in ("Many2one", "One2many", "Many2many"):
        comodel = _evaluate(call.args[0], constants)
        if isinstance(comodel, str):
            keywords.setdefault("comodel_name", comodel)
    if len(call.args) > 1 and function.attr == "One2many":
        keywords.setdefault("inverse_name", _evaluate(call.args[1], constants))
    model.fields[name] = Field(function.attr, keywords)


def _read_field_function(
    name: str, keyword: ast.keyword, value: object, model: ModelClass, constants: dict[str, object]
) -> object:
    """The name of the function that a field names. A lambda is kept as a method with the name of the field."""
    if isinstance(keyword.value, ast.Name):
        return keyword.value.id
    if isinstance(keyword.value, ast.Lambda):
        function = _convert_lambda(keyword.value, f"<{name}.{keyword.arg}>")
        model.methods.append(_read_method(function, constants, model.analyze))
        return function.name
    return value


def _convert_lambda(node: ast.Lambda, name: str) -> ast.FunctionDef:
    body = ast.copy_location(ast.Return(node.body), node)
    function = ast.FunctionDef(name=name, args=node.args, body=[body], decorator_list=[], returns=None)
    return ast.copy_location(function, node)


def _read_method(node: FunctionNode, constants: dict[str, object], analyze: Analyzer) -> Method:
    decorators: set[str] = set()
    depends: list[str] = []
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = _last_name(target)
        decorators.add(name)
        if name == "depends" and isinstance(decorator, ast.Call):
            paths = [_evaluate(argument, constants) for argument in decorator.args]
            depends.extend(path if isinstance(path, str) else "?" for path in paths)
    parameters = _list_parameters(node)
    if "staticmethod" not in decorators:
        parameters = parameters[1:]
    facts = analyze(node, parameters, constants)
    return Method(node.name, parameters, decorators, depends, facts)


def _list_parameters(node: FunctionNode) -> list[str]:
    arguments = node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg:
        names.append(f"*{arguments.vararg.arg}")
    names += [argument.arg for argument in arguments.kwonlyargs]
    if arguments.kwarg:
        names.append(f"**{arguments.kwarg.arg}")
    return names


def _read_constants(body: list[ast.stmt]) -> dict[str, object]:
    """The constants that statements assign to names. Other values are left out."""
    constants: dict[str, object] = {}
    for statement in body:
        if isinstance(statement, ast.Assign):
            targets, value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets, value = [statement.target], statement.value
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name):
                constant = _evaluate(value, constants)
                if constant is not None:
                    constants[target.id] = constant
    return constants


def _evaluate(node: ast.expr, constants: dict[str, object]) -> object:
    """The value of a constant expression; None if it is not constant."""
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
