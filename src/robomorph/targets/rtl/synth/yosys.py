"""A stand-in for the program yosys, for those who have the Python package pyosys: yosys.py -s SCRIPT."""

import sys

from pyosys import libyosys


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] != "-s":
        sys.exit("usage: yosys.py -s SCRIPT")
    libyosys.run_pass(f"script {sys.argv[2]}", libyosys.Design())


main()
