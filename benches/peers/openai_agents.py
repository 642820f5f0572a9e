"""OpenAI's Agents SDK: a model that is scripted asks for all tools of a layer in one turn; the SDK runs them."""

import asyncio
import json
import os
import time

os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from peer import SLOW, report


@function_tool
def nothing() -> str:
    return "done"


@function_tool
def slow() -> str:
    time.sleep(SLOW)
    return "done"


class Script(Model):
    """Asks for `width` calls in each of `layers` turns, then says that it is done."""

    def __init__(self, layers, width, tool):
        self.layers, self.width, self.tool, self.turn = layers, width, tool, 0

    async def get_response(self, *_, **__):
        self.turn += 1
        if self.turn > self.layers:
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            output = [
                ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
            ]
        else:
            output = [
                ResponseFunctionToolCall(
                    arguments=json.dumps({}), call_id=f"{self.turn}-{i}", name=self.tool, type="function_call"
                )
                for i in range(self.width)
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    async def stream_response(self, *_, **__):
        raise NotImplementedError("nothing is streamed here")
        yield


def run(layers, width, tool):
    agent = Agent(name="peer", model=Script(layers, width, tool.name), tools=[tool])
    asyncio.run(Runner.run(agent, "go", max_turns=layers + 2))


if __name__ == "__main__":
    report(lambda layers, width: lambda: run(layers, width, nothing), lambda: run(1, 32, slow), rounds=3)
