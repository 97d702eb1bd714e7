"""The service keeps what its own description promises: schemathesis looks for where it does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from served_process import Served

EXAMPLES = 25  # random requests for each path, beside the systematic ones
TOKEN = "a-token-for-tests"
HERE = Path(__file__).parent


@pytest.mark.slow
def test_schemathesis_finds_nothing(places, tmp_path) -> None:
    pytest.importorskip("schemathesis")
    hooks = {
        "SCHEMATHESIS_HOOKS": "csv_for_schemathesis",
        "PYTHONPATH": os.pathsep.join(
            [str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")]
        ),
    }
    with Served(places["notes"], "--port", 0, environment={"SPLMLL_TOKEN": TOKEN}) as served:
        # With the hook, CSV files are bytes, which examples in a JSON document cannot be.
        for phases, environment in (("examples", {}), ("coverage,fuzzing", hooks)):
            command = [sys.executable, "-m", "schemathesis.cli", "run"]
            command += [f"{served.address}/openapi.json", "--checks", "all", "--no-color"]
            command += ["--header", f"Authorization: Bearer {TOKEN}", "--phases", phases]
            command += ["--max-examples", str(EXAMPLES), "--generation-deterministic"]
            ran = subprocess.run(
                command,
                capture_output=True,
                text=True,
                cwd=tmp_path,
                timeout=300,
                env={**os.environ, **environment},
            )
            assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr
            assert " passed" in ran.stdout
        assert served.client.get("/health").status_code == 200


def test_the_description_of_several_models_names_all(client) -> None:
    document = client.get("/openapi.json").json()
    row = document["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]
    assert len(row["schema"]["properties"]["rows"]["items"]["anyOf"]) == 3
    assert document["components"]["schemas"]["Row2"]["required"] == ["x", "y", "z"]
    assert "securitySchemes" not in document["components"]
