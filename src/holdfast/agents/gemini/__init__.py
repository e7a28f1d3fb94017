"""What Holdfast installs into Gemini CLI."""
