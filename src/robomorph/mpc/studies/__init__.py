"""Questions put to the controller: which numbers its gradients need."""
