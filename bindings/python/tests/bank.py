"""A catalog, recipes and tools that the tests share."""

CATALOG = {
    "servers": {
        "bank": {
            "tools": [
                {"name": "list_accounts", "description": "Lists accounts.", "inputSchema": {"type": "object"}},
                {"name": "set_note", "description": "Sets the text of a note.", "inputSchema": {"type": "object"}},
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

FOUR = """\
together:
  a: bank.list_accounts {"of":"ann"}
  b: bank.list_accounts {"of":"bob"}
  c: bank.list_accounts {"of":"cleo"}
  d: bank.list_accounts {"of":"dan"}
"""

PAY = """\
together:
  accounts: bank.list_accounts {"of":"ann"}
then:
  pay: bank.send_payment {"to":"{accounts[0]}","amount":12.5}
"""

EDITABLE = """\
[[people]]
server = "bank"
roles = ["finance"]
may_edit = ["finance"]
"""
