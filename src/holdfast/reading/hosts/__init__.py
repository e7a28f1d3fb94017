"""One adapter per agent: a session log in, ordered visible events out."""
