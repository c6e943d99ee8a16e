"""What a coding agent does: starts `camre mcp`, lists its tools and calls them."""

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    server = StdioServerParameters(command="camre", args=["mcp"])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        print("tools:", *(tool.name for tool in (await session.list_tools()).tools))
        for name, arguments in (
            ("reset", {"split": "core", "index": 0}),
            ("find", {"words": "timeout"}),
            ("state", {}),
        ):
            result = await session.call_tool(name, arguments)
            print(f"{name}: {result.content[0].text.splitlines()[-1]}")


anyio.run(main)
