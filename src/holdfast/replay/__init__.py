"""Replays whole conversations to measure what they read and how much could have been saved."""
