"""Link units: the steps of the sweeps traced once for all links, their sparsity superposed."""
