"""Builds the wheel with the standard library alone: the hooks that `pip` calls (PEP 517), or a command:

    python3 build_backend.py [folder]

The same sources give the same bytes.
"""

import base64
import hashlib
import pathlib
import sys
import zipfile

VERSION = "0.9.0"
NAME = "erp_proxy"
TAG = "py3-none-any"
#: The first time that a zip file can have.
TIME = (1980, 1, 1, 0, 0, 0)

ROOT = pathlib.Path(__file__).resolve().parent
INFO = f"{NAME}-{VERSION}.dist-info"

METADATA = f"""\
Metadata-Version: 2.1
Name: erp-proxy
Version: {VERSION}
Summary: Calls Odoo through erp-proxy: typed models, retries, pages, asyncio. No dependencies.
Keywords: odoo,erp,client,json-rpc,erp-proxy
License: MIT
Classifier: License :: OSI Approved :: MIT License
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Requires-Python: >=3.9
Description-Content-Type: text/markdown

"""

WHEEL = f"""\
Wheel-Version: 1.0
Generator: erp-proxy
Root-Is-Purelib: true
Tag: {TAG}
"""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into a folder, and returns the name of its file."""
    name = f"{NAME}-{VERSION}-{TAG}.whl"
    files = dict(read_sources())
    license_file = next(path for path in (ROOT / "LICENSE", ROOT.parent.parent / "LICENSE") if path.exists())
    files[f"{INFO}/LICENSE"] = license_file.read_bytes()
    files[f"{INFO}/METADATA"] = METADATA.encode() + (ROOT / "README.md").read_bytes()
    files[f"{INFO}/WHEEL"] = WHEEL.encode()
    rows = [f"{path},sha256={encode_hash(data)},{len(data)}\n" for path, data in files.items()]
    files[f"{INFO}/RECORD"] = "".join([*rows, f"{INFO}/RECORD,,\n"]).encode()
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data)
    return name


def read_sources():
    source = ROOT / "src"
    for path in sorted((source / NAME).iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            yield path.relative_to(source).as_posix(), path.read_bytes()


def encode_hash(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    folder.mkdir(parents=True, exist_ok=True)
    print(folder / build_wheel(folder))
