"""What Holdfast installs into OpenCode."""
