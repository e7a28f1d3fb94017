"""What sessions read, and what of it could have been saved: whole conversations, played again."""
