//! The tools of MCP servers, as a catalog and as the executor's tools.
