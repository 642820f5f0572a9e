"""A payment that waits for a person, in four processes.

    python pay.py plan               shows the card
    python pay.py run                runs until it waits for people: prints the run, and ends
    python pay.py approvals          what waits
    python pay.py approve WHO        somebody says yes to all of it
    python pay.py resume RUN         goes on; the payment is made once, however often this is called

PAY_STORE is where the store lies (pay.db), PAY_LOG where payments are written (pay.log).
"""

import json
import os
import sys

import plangate

RECIPE = """\
together:
  balance: bank.get_balance {"account":"ours"}
  payee: bank.list_payees {"name":"Ann"}
ask me:
  - pay Ann?
    pay: bank.send_payment {"to":"{payee[0].iban}","amount":12.50}
"""

CATALOG = {
    "servers": {
        "bank": {
            "tools": [
                {
                    "name": "get_balance",
                    "description": "Gets the balance of an account.",
                    "inputSchema": {"type": "object"},
                },
                {"name": "list_payees", "description": "Lists known payees.", "inputSchema": {"type": "object"}},
                {
                    "name": "send_payment",
                    "description": "Sends a payment.",
                    "inputSchema": {
                        "type": "object",
                        "properties": {"to": {"type": "string"}, "amount": {"type": "number"}},
                        "required": ["to", "amount"],
                    },
                },
            ]
        }
    }
}


def send_payment(to, amount):
    """Writes the payment down. The key is the same for the same call: a bank that is asked twice can tell."""
    call = plangate.current_call()
    try:
        log = open(os.environ.get("PAY_LOG", "pay.log"), "a")
    except OSError as e:
        raise plangate.NotSent(f"the log cannot be opened: {e}") from e
    with log:
        log.write(f"{call.key} {call.json}\n")
    return {"paid": True}


TOOLS = {
    "bank.get_balance": lambda account: {"amount": 250.00},
    "bank.list_payees": lambda name: [{"name": name, "iban": "DE02120300000000202051"}],
    "bank.send_payment": send_payment,
}


def told(run):
    print("run", run.id, run.state)
    for approval in run.approvals():
        print("waits:", approval.tool, json.dumps(approval.arguments), "until", approval.expires)


def main(what, *rest):
    if what == "plan":
        print(plangate.compile(RECIPE, catalog=CATALOG))
        return
    with plangate.Store(os.environ.get("PAY_STORE", "pay.db")) as store:
        if what == "run":
            told(store.run(plangate.compile(RECIPE, catalog=CATALOG), tools=TOOLS, title="pay Ann"))
        elif what == "resume":
            told(store.resume(*rest, tools=TOOLS))
        elif what in ("approvals", "approve"):
            for approval in store.approvals():
                print(approval.id, approval.tool, json.dumps(approval.arguments))
                for who in rest:
                    print(approval.approve(by=who).state, "by", who)
        else:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["help"]))
