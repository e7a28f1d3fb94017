"""The verbs of memory as its surfaces offer them: typed answers, and one text for each.

`verbs.py` calls the store, `answers.py` has what a verb returns, `render.py` turns an answer into
text. The command line and the MCP tools use all three, so they cannot disagree.
"""
