"""Tasks of AgentBench 0.2, run from a checkout as they are, or served to AgentBench's assigner."""
