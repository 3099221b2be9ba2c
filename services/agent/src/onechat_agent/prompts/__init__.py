"""What the model is told: system prompts, the state block, the compaction task."""
