"""How a metric is learnt: the rows it is learnt from, a regression, and its gradients."""
