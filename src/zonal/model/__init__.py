"""The model as a value: what to fit, how cells become numbers, what was found.

- `recipe`: what to fit, made by a user's parameters or by the choice;
- `cells`: how cells become rows of numbers, and targets numbers; rows are encoded here, in a fit
  and in a prediction, and nowhere else;
- `start`: a recipe whose features are fitted, which tells what is summed or kept of the rows;
- `from_sums`, `from_rows`: what was found, on features alone or with a local part; both answer the
  same questions (`fitted.Solved`), so that no caller needs to know which it has;
- `fitted`: cells and what was found together: what a model says of rows.
"""
