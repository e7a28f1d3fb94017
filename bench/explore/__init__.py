"""What it costs to find things out in unknown code: bytes of output and calls.

questions.json   what is asked, and the lines that a right answer must have seen
arms.py          two scripted explorers: with our commands, and with ripgrep and sed
__main__.py      fetches the packages, lets both explore, prints the table
"""
