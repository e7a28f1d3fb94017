"""What Holdfast installs into Claude Code."""
