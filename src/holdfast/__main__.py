"""`python -m holdfast`: the `holdfast` command, for when its script is not on the path."""

from holdfast.cli.start import main

main()
