"""The same payment by the OpenAI Agents SDK alone, with a model that follows a script."""

import asyncio
import json

from agents import Agent, ModelResponse, Runner, RunState, Usage, function_tool, set_tracing_disabled
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

set_tracing_disabled(True)


class Scripted(Model):
    """Makes these calls, then says what came back."""

    def __init__(self, *calls):
        self.calls = calls

    async def get_response(self, system_instructions, input, *_, **__):
        items = [] if isinstance(input, str) else input
        came = [item["output"] for item in items if isinstance(item, dict) and item.get("type") == "function_call_output"]
        if len(came) < len(self.calls):
            name, arguments = self.calls[len(came)]
            if callable(arguments):
                arguments = arguments(came)
            call = ResponseFunctionToolCall(
                type="function_call", call_id=f"call-{len(came)}", name=name, arguments=json.dumps(arguments)
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        text = ResponseOutputText(type="output_text", text=json.dumps(came), annotations=[])
        said = ResponseOutputMessage(id="said", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


def sdk_agent(pay):
    @function_tool(needs_approval=True)
    def send_payment(to: str) -> str:
        pay(to)
        return "paid"

    return Agent(name="payer", model=Scripted(("send_payment", {"to": "ann"})), tools=[send_payment])


async def sdk_paused(pay):
    paused = await Runner.run(sdk_agent(pay), "pay ann")
    assert len(paused.interruptions) == 1
    return json.dumps(paused.to_state().to_json())


async def sdk_approved(pay, saved):
    agent = sdk_agent(pay)
    state = await RunState.from_json(agent, json.loads(saved))
    for asked in state.get_interruptions():
        state.approve(asked)
    return await Runner.run(agent, state)


def sdk_run(folder, send_payment, what):
    """`start` or `approve`, in a process of its own: what is kept between them is what the SDK saves."""
    saved = folder / "state.json"

    def pay(to):
        send_payment(to, 5)

    if what == "start":
        saved.write_text(asyncio.run(sdk_paused(pay)))
    else:
        asyncio.run(sdk_approved(pay, saved.read_text()))
