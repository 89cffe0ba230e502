"""The data set job: labelled states in shards."""
