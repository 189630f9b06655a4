"""The example of the page on testing is a test file that passes, as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "testing-your-agent.md"


def test_the_documented_test_file_passes(tmp_path: Path) -> None:
    """E10: in a folder of its own, with nothing of this project's tests around it."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "test_bills.py").write_text(example)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout[-4_000:]
