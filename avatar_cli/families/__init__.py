"""Model families. Each provides modules and plugs them into the stages."""
