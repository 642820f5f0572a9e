"""The library as cargo builds it for its own tests, where none is named."""

import os
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(Path(__file__).parent))

if "PLANGATE_LIBRARY" not in os.environ and not (Path(__file__).parents[1] / "src/plangate/libplangate.so").exists():
    built = CHECKOUT / "target" / "debug" / "libplangate.so"
    if built.exists():
        os.environ["PLANGATE_LIBRARY"] = str(built)
        sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
