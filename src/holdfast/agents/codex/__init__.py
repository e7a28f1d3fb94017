"""What Holdfast installs into Codex."""
