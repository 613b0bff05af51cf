"""The JSON Schema of provider files, for editors. `python -m groundwire.adapters.schema_file` renews it."""

import importlib.resources
import json
import sys
from pathlib import Path

from groundwire.adapters.spec import ProviderSpec


def schema_path() -> Path:
    """Where the schema is; a provider file names it in its first line (`# yaml-language-server: $schema=…`)."""
    return Path(str(importlib.resources.files("groundwire.adapters") / "provider.schema.json"))


def schema_text() -> str:
    """The schema as it should be."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Groundwire provider file",
        **ProviderSpec.model_json_schema(),
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    schema_path().write_text(schema_text(), encoding="utf-8")
    sys.stdout.write(f"{schema_path()}\n")
