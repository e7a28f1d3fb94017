"""The web page of `holdfast serve`: what is going on, live, and questions asked by clicking."""
