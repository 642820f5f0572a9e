"""The declarations that cffi reads, as they follow from the header."""

import re
from pathlib import Path

HEADER = Path(__file__).resolve().parents[3] / "ffi" / "include" / "plangate.h"


def declarations() -> str:
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    text = re.sub(r"#ifdef __cplusplus.*?#endif[^\n]*", "", text, flags=re.S)
    constants = re.findall(r"#define (PLANGATE_\w+) (-?\d+)", text)
    text = "\n".join(line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return "\n".join(f"#define {name} {value}" for name, value in constants) + "\n" + text + "\n"
