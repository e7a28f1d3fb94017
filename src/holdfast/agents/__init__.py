"""Makes agents use Holdfast: their settings, hooks, extensions and instructions."""
