"""The services as the command sees them: contract in, values out."""
