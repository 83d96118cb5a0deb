"""The rank side: entry point, session, publishing."""
