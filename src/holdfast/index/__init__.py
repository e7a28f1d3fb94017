"""What is in the source tree, and proof that it is all there."""
