"""`python -m robomorph`: the command line."""

import sys

from robomorph.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
