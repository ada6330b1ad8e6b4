"""Finds the methods that scheduled actions of a checkout run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from odoo_sources import find_modules

MODEL = "model_"
# `model._send_reminder()`, or `env['account.move.send']._update_status()`. Context and searches do not count.
CALL = re.compile(r"""(?:\bmodel|env\[["'](?P<model>[\w.]+)["']\])(?:\.(?:with_context|search)\(.*?\))*\.(?P<method>\w+)\(""")


def read_scheduled(root: Path) -> Iterator[tuple[str, str]]:
    """Each method, with its model. The name of the model has underscores, unless the code of the action names it."""
    for folder, _ in find_modules(root).values():
        for path in sorted(folder.rglob("*.xml")):
            text = path.read_bytes()
            if b"ir.cron" not in text:
                continue
            try:
                records = ElementTree.fromstring(text).iter("record")
            except ElementTree.ParseError:
                continue
            for record in records:
                if record.get("model") == "ir.cron":
                    yield from _list_called(record)


def _list_called(record: ElementTree.Element) -> Iterator[tuple[str, str]]:
    fields = {field.get("name"): field for field in record.findall("field")}
    if "model_id" not in fields or "code" not in fields:
        return
    own = fields["model_id"].get("ref", "").rpartition(".")[2].removeprefix(MODEL)
    for found in CALL.finditer(fields["code"].text or ""):
        yield found["model"] or own, found["method"]
