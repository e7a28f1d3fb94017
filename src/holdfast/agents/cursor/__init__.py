"""What Holdfast installs into Cursor."""
