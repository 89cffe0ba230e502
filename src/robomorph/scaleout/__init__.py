"""Large runs in many processes or on many machines: a job is a pure function of (robot, seed, shard) to a file."""
