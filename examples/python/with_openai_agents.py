"""A plan as tools of an agent of the OpenAI Agents SDK.

The first tool returns at once, parked or done, so that the agent's turn goes on and no process waits for a person. People decide
where they always do (the command line, the web page, `store.approvals()`); the second tool goes on with the run.
"""

import json
from typing import Any, Dict, List

from agents import FunctionTool
from agents.tool_context import ToolContext

import plangate


def plan_tools(
    plan: plangate.Plan, store: plangate.Store, tools: Any, *, name: str, description: str, writer: Any = None
) -> List[FunctionTool]:
    """`NAME` starts the plan with its inputs, `NAME_result` says what became of it, and goes on where people have decided."""

    async def start(context: ToolContext[Any], arguments: str) -> str:
        # The model's call has an id: asked again for the same call, it is the same run.
        title = f"{name}:{context.tool_call_id}"
        known = [run["id"] for run in store.runs() if run["title"] == title]
        if known:
            return await result_of(known[0])
        inputs = json.loads(arguments or "{}")
        try:
            return told(await store.run_async(plan, tools=tools, writer=writer, inputs=inputs, title=title))
        except plangate.ArgumentError as e:
            return json.dumps({"error": str(e)})

    async def result(_: ToolContext[Any], arguments: str) -> str:
        return await result_of(json.loads(arguments)["run"])

    async def result_of(run_id: str) -> str:
        try:
            return told(await store.resume_async(run_id, tools=tools, writer=writer))
        except plangate.Busy:
            return json.dumps({"run": run_id, "state": "running"})
        except plangate.Error as e:
            return json.dumps({"run": run_id, "error": str(e)})

    actions = json.loads(plan.actions)
    kinds = {"text": "string", "number": "number", "yes/no": "boolean", "list": "array"}
    properties = {given["name"]: {"type": kinds.get(given["kind"], "string")} for given in actions["inputs"]}
    run_id = {"type": "object", "properties": {"run": {"type": "string"}}, "required": ["run"]}
    return [
        FunctionTool(
            name=name,
            description=f"{description} It stops where people are asked: `parked` means that they are, and is no failure.",
            params_json_schema={"type": "object", "properties": properties},
            on_invoke_tool=start,
            strict_json_schema=False,
        ),
        FunctionTool(
            name=f"{name}_result",
            description=f"What became of a run of {name}.",
            params_json_schema=run_id,
            on_invoke_tool=result,
            strict_json_schema=False,
        ),
    ]


def told(run: plangate.Run) -> str:
    """What the model is told: states and results, and what people are asked. Nothing that lets it decide."""
    steps: Dict[str, Any] = {}
    for step in run.record["steps"]:
        if step["kind"] in ("call", "sentence"):
            kept = ("state", "result", "error")
            steps[step["id"]] = {key: step[key] for key in kept if key in step}
    waiting = [{"tool": row.tool, "arguments": row.arguments, "until": row.expires.isoformat()} for row in run.approvals()]
    return json.dumps({"run": run.id, "state": run.state, "steps": steps, "waiting": waiting})
