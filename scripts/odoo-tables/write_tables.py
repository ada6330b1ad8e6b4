#!/usr/bin/env python3
"""Runs all scripts of this folder on the same checkouts, writes their tables, and prints the files that changed.

Usage: write_tables.py 14=../odoo-14 15=../odoo-15 16=../odoo-16 17=../odoo-17 18=../odoo-18 19=../odoo-19

Each argument is a version and a checkout of it. Give all versions, or rows of the others are lost. Nothing is written
if a script fails. Takes about ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from odoo_sources import find_checkouts

FOLDER = Path(__file__).parent
PACKAGE = FOLDER.parent.parent / "packages" / "odoo"
# The scripts that read checkouts, with the files that they write.
TABLES = {
    "context_effects.py": "src/sensitive/context-effects-data.ts",
    "context_records.py": "src/related/context-records-data.ts",
    "credential_fields.py": "src/sensitive/credential-fields-data.ts",
    "expanded_groups.py": "src/expanded-groups-table.ts",
    "field_sources.py": "src/fields/computed-fields-table.ts",
    "name_search_fields.py": "src/fields/name-searches-table.ts",
    "written_methods.py": "src/written-methods-data.ts",
    "written_models.py": "src/sensitive/written-models-data.ts",
}
# The scripts that read the outputs of read_odoo.py.
KNOWN_METHODS = "src/known-methods-data.ts"
NAMED_RECORDS = "test/data/named-records-14-to-19.json"
PROCESSES = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="+", metavar="VERSION=PATH", help="version and folder with odoo/addons")
    checkouts = find_checkouts(parser, parser.parse_args().checkouts)
    given = [f"{version}={path}" for version, path in checkouts.items()]
    with TemporaryDirectory() as place, ThreadPoolExecutor(PROCESSES) as pool:
        read: dict[Path, Future[str]] = {}
        for version, path in checkouts.items():
            read[Path(place, f"{version}.json")] = pool.submit(run, "read_odoo.py", "--version", version, str(path))
        tables = {name: pool.submit(run, script, *given) for script, name in TABLES.items()}
        for file, output in read.items():
            file.write_text(output.result(), encoding="utf-8")
        files = [str(file) for file in read]
        tables[KNOWN_METHODS] = pool.submit(run, "known_methods.py", "--former", str(PACKAGE / KNOWN_METHODS), *files)
        tables[NAMED_RECORDS] = pool.submit(run, "named_records.py", *files)
        outputs = {PACKAGE / name: table.result() for name, table in tables.items()}
    for file, output in outputs.items():
        if file.read_text(encoding="utf-8") != output:
            file.write_text(output, encoding="utf-8")
            print(file.relative_to(PACKAGE.parent.parent))


def run(script: str, *arguments: str) -> str:
    """The output of a script of this folder. Ends the program if the script fails."""
    done = subprocess.run(
        [sys.executable, "-B", str(FOLDER / script), *arguments], stdout=subprocess.PIPE, encoding="utf-8"
    )
    if done.returncode != 0:
        raise SystemExit(f"{script} failed with exit code {done.returncode}, and no file was written")
    return done.stdout


if __name__ == "__main__":
    main()
