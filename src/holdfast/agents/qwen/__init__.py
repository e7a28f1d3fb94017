"""What Holdfast installs into Qwen Code."""
