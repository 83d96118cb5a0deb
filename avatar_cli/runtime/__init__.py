"""The core: chunk plan, stages, pipeline, rolling state, residency, sampler. Knows no model or format."""
