"""A stand-in for the program yosys, for those who have the Python package pyosys: yosys.py -s SCRIPT."""

import importlib
import sys


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] != "-s":
        sys.exit("usage: yosys.py -s SCRIPT")
    yosys = importlib.import_module("pyosys.libyosys")
    yosys.run_pass(f"script {sys.argv[2]}", yosys.Design())


main()
