"""
Classes, and sets that hold their level
=======================================

MAGIC: showers of gamma rays and of hadrons, seen by a telescope on La Palma. A class is one
answer; a *set* of classes that contains the truth nine times of ten says where the answer is in
doubt.
"""

# %%
# 4,000 of the 19,020 events, half of them for the test.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import zonal

events = zonal.datasets.load_magic()
X, X_test, y, y_test = train_test_split(
    events.data,
    events.target,
    train_size=2000,
    test_size=2000,
    random_state=0,
    stratify=events.target,
)
model = zonal.KernelRidgeClassifier(budget=300, random_state=0).fit(X, y)
print(f"{model.score(X_test, y_test):.1%} right")

# %%
# Probabilities are calibrated: of the events that are given 70 %, about 70 % are gammas.

probability = model.predict_proba(X_test)
sets = model.predict_set(X_test, coverage=0.9)
names = list(events.target_names) if "target_names" in events else ["gamma", "hadron"]
column = {label: place for place, label in enumerate(model.classes_)}
truth = np.array([column[label] for label in y_test])
held = sets[np.arange(len(truth)), truth]
for place, name in enumerate(names):
    print(f"{name}: {held[truth == place].mean():.1%} of the sets hold the truth")
sizes = np.bincount(sets.sum(axis=1), minlength=3) / len(sets)
print("sets with no, one and both classes:", ", ".join(f"{share:.0%}" for share in sizes))

# %%
# Where both classes are in the set, the probability is in the middle.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
bins = np.linspace(0, 1, 11)
which = np.digitize(probability[:, 0], bins[1:-1])
shares = [np.mean(truth[which == b] == 0) for b in range(10) if np.any(which == b)]
means = [probability[which == b, 0].mean() for b in range(10) if np.any(which == b)]
left.plot([0, 1], [0, 1], "k", lw=0.8)
left.plot(means, shares, "o-")
left.set(xlabel=f"probability of {names[0]}", ylabel="how often it is one", title="Calibration")
kinds = {"only " + names[0]: [1, 0], "only " + names[1]: [0, 1], "both": [1, 1]}
parts = [probability[(sets == kind).all(axis=1), 0] for kind in kinds.values()]
right.hist(parts, bins=25, stacked=True, label=list(kinds), color=["#1f6f8b", "#b5651d", "#c9c9c9"])
right.set(xlabel=f"probability of {names[0]}", ylabel="events", title="What is in the 90 % set")
right.legend()
plt.show()
