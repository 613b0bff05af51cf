"""What people and agents touch: the commands, the MCP tool, the client, metrics."""
