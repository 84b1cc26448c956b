"""A small server for old releases of the Python SDK: two tools, a resource and a prompt."""

from mcp.server.fastmcp import FastMCP

server = FastMCP("old-python")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.resource("note://today")
def today() -> str:
    """The note of the day."""
    return "old but alive"


@server.prompt()
def review(code: str) -> str:
    """Asks for a review."""
    return f"Please review: {code}"


if __name__ == "__main__":
    server.run()
