"""`python -m holdfast`: the command, where no script of that name is on the path."""

from holdfast.cli.start import main

raise SystemExit(main())
