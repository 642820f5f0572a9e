"""Writes src/plangate/_cdef.py anew after the header changed."""

from pathlib import Path

from header import declarations

TO = Path(__file__).resolve().parents[1] / "src" / "plangate" / "_cdef.py"

if __name__ == "__main__":
    TO.write_text(f'"""Declarations of ffi/include/plangate.h. Written by tests/write_cdef.py."""\n\nCDEF = """\\\n{declarations()}"""\n')
