"""Four slow lookups as coroutines, and the sentence that is written from them."""

import asyncio
import time

import plangate

RECIPE = """\
together:
  berlin: weather.get_forecast {"city":"Berlin"}
  lagos: weather.get_forecast {"city":"Lagos"}
  lima: weather.get_forecast {"city":"Lima"}
  oslo: weather.get_forecast {"city":"Oslo"}
then:
  need: 3 of 4
  where: say where it is warmest, from {berlin, lagos, lima, oslo}
"""

CATALOG = {
    "servers": {
        "weather": {
            "tools": [{"name": "get_forecast", "description": "Gets a forecast.", "inputSchema": {"type": "object"}}]
        }
    }
}


async def get_forecast(city):
    await asyncio.sleep(0.1)
    return {"city": city, "degrees": len(city) * 5}


def writer(instruction, inputs):
    """Here a model would write; the instruction is the recipe's, the inputs are data."""
    known = [value for value in inputs.values() if not isinstance(value, plangate.Missing)]
    return max(known, key=lambda forecast: forecast["degrees"])["city"]


async def main():
    plan = plangate.compile(RECIPE, catalog=CATALOG)
    store = plangate.Store(":memory:")
    start = time.monotonic()
    run = await store.run_async(plan, tools={"weather.get_forecast": get_forecast}, writer=writer)
    print(f"{run['where']}, after {time.monotonic() - start:.2f} s; one after the other: {run.record['sum'] / 1000:.2f} s")


if __name__ == "__main__":
    asyncio.run(main())
