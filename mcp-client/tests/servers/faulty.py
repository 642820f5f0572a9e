#!/usr/bin/env python3
"""A small MCP server over stdio that misbehaves on request. Standard library only.

What it does when it starts, lists and ends is said by flags; what a call does, by the name of the tool.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--start", default="well", choices=["well", "die", "hang", "slow", "garbage", "refuse"])
parser.add_argument("--list", default="well", choices=["well", "pages", "loop", "endless", "broken", "error", "none"])
parser.add_argument("--end", default="well", choices=["well", "ignore-eof", "ignore-term"])
parser.add_argument("--seconds", type=float, default=30.0)
parser.add_argument("--tools", default="one", help="what the tool `t` is described as")
parser.add_argument("--mark", help="a file that tells a second start from the first")
args = parser.parse_args()

out_lock = threading.Lock()
cancelled = []
held = {"barrier": [], "heard": []}
described = args.tools


def write(data):
    with out_lock:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def answer(ident, result):
    send({"id": ident, "result": result})


def tools():
    named = ["t", "echo", "fail", "code", "die", "never", "heard", "barrier", "change", "oversize", "noisy", "raw"]
    return [{"name": n, "description": described, "inputSchema": {"type": "object"}} for n in named]


def list_tools(ident, params):
    cursor = params.get("cursor")
    if args.list == "error":
        send({"id": ident, "error": {"code": -32603, "message": "database down"}})
    elif args.list == "none":
        send({"id": ident, "error": {"code": -32601, "message": "Method not found"}})
    elif args.list == "pages":
        page = int(cursor or 0)
        more = {"nextCursor": str(page + 1)} if page < 4 else {}
        answer(ident, {"tools": [{"name": f"t{page}", "inputSchema": {}}], **more})
    elif args.list == "loop":
        answer(ident, {"tools": [], "nextCursor": "b" if cursor == "a" else "a"})
    elif args.list == "endless":
        answer(ident, {"tools": [], "nextCursor": str(int(cursor or 0) + 1)})
    elif args.list == "broken":
        answer(ident, {"tools": [{"name": "good"}, {"name": "bad", "inputSchema": None}, {"inputSchema": {}}]})
    else:
        answer(ident, {"tools": tools()})


def call(ident, params, line):
    global described
    name, given = params["name"], params.get("arguments") or {}
    if name in ("t", "stop-reading"):
        answer(ident, text("ok"))
    if name == "stop-reading":
        time.sleep(args.seconds)
        os._exit(0)
    if name == "echo":
        answer(ident, {"content": [], "structuredContent": {"line": line.decode()}})
    elif name == "raw":
        write(given["before"].encode() + str(ident).encode() + given["after"].encode() + b"\n")
    elif name == "fail":
        answer(ident, text("no such account", isError=True))
    elif name == "code":
        who = None if given.get("anonymous") else ident
        send({"id": who, "error": {"code": given["code"], "message": "as you wish"}})
    elif name == "die":
        print("about to die", file=sys.stderr, flush=True)
        if given.get("heir"):
            # A process that inherits our standard output and outlives us.
            subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({args.seconds})"])
        if given.get("half"):
            write(b'{"jsonrpc":"2.0","id":%d,"result":{"cont' % ident)
        os._exit(3)
    elif name == "heard":
        # Answered once the client has cancelled something.
        held["heard"].append(ident)
        tell()
    elif name == "barrier":
        held["barrier"].append(ident)
        if len(held["barrier"]) == given["of"]:
            for waiting in held["barrier"]:
                answer(waiting, text(str(given["of"])))
    elif name == "change":
        described = "changed"
        send({"method": "notifications/tools/list_changed"})
        answer(ident, text("changed"))
    elif name == "oversize":
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % ident)
        for _ in range(given["kilobytes"]):
            write(b"x" * 1024)
        write(b'"}]}}\n')
    elif name == "noisy":
        sys.stderr.write("y" * 200_000 + "\n")
        write(b"\xef\xbb\xbf\r\n\n[INFO] handling the call\n")
        write(json.dumps({"jsonrpc": "2.0", "id": str(ident), "result": text("heard through")}).encode() + b"\r\n")


def tell():
    while cancelled and held["heard"]:
        answer(held["heard"].pop(), {"content": [], "structuredContent": cancelled})


if args.start == "die":
    print("config missing", file=sys.stderr)
    sys.exit(1)
if args.start == "slow":
    time.sleep(args.seconds)
if args.start == "garbage":
    write(b"Welcome!\n\x1b[1mBanner\x1b[0m\n")
    time.sleep(args.seconds)
if args.end == "ignore-term":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if args.mark:
    if os.path.exists(args.mark):
        described = "after a restart"
    open(args.mark, "w").close()

for line in sys.stdin.buffer:
    message = json.loads(line)
    method, ident, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize" and args.start == "refuse":
        send({"id": ident, "error": {"code": -32000, "message": "no licence"}})
    elif method == "initialize" and args.start != "hang":
        answer(ident, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}},
                       "serverInfo": {"name": "faulty", "version": "1"}})
    elif method == "tools/list":
        list_tools(ident, params)
    elif method == "tools/call":
        call(ident, params, line)
    elif method == "notifications/cancelled":
        cancelled.append(params.get("reason"))
        tell()
    elif ident is not None and method and method != "initialize":
        send({"id": ident, "error": {"code": -32601, "message": "Method not found"}})

if args.end != "well":
    time.sleep(args.seconds)
