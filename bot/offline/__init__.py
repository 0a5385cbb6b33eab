"""Words read by rules: without a model, for commands that name a time, and as the net under a model that is away."""
