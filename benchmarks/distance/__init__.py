"""How models predict near their rows and far from them: random rows, blocks, holes, forecasts."""
