"""What `holdfast serve` serves over HTTP."""
