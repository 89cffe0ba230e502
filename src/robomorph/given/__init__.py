"""What callers and files give: numbers, limits, references; robots, postures and tasks of TOML files."""
