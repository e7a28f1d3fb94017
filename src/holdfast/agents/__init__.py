"""Making agents use Holdfast: their settings, hooks, extensions, and what to tell them."""
