"""A client and a server agreeing about documents."""
