"""A process that pays and is killed before anybody hears of it: `killed.py WAY FOLDER WHAT`, with WAY
`framework` (LangGraph), `sdk` or `plangate`."""

import os
import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    way, folder = sys.argv[1], Path(sys.argv[2])

    def pay_and_die(to, amount):
        with (folder / "log").open("a") as log:
            log.write(f"{to}\n")
        if not (folder / "died").exists():
            (folder / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"paid": True}

    # Each of the two takes seconds to be imported.
    if way == "sdk":
        from sdk import sdk_run as make
    elif way == "framework":
        from frameworks import framework_graph as make
    else:
        from frameworks import plangate_graph as make
    make(folder, pay_and_die, sys.argv[3])
