"""Built-in scenarios: TOML files, and robots for them."""
