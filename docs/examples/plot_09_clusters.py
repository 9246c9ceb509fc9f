"""
Clusters and components
=======================

Pen-written digits: sixteen coordinates of the pen. Kernel k-means groups them without their
labels, kernel components put them on a page, and the labels tell afterwards how good the groups
are.
"""

# %%
# 3,000 of the 7,494 digits.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, confusion_matrix

import zonal

digits = zonal.datasets.load_pendigits()
chosen = np.random.default_rng(0).permutation(len(digits.target))[:3000]
X, label = digits.data[chosen] / 100, digits.target[chosen]

# %%
# Ordinary k-means finds round groups in the coordinates; kernel k-means finds them in the
# features of a kernel, where groups may be bent.

features = zonal.NystroemFeatures(zonal.Gaussian(0.7), n_components=300, random_state=0)
groups = zonal.KernelKMeans(features, n_clusters=10, random_state=0).fit_predict(X)
plain = KMeans(10, n_init=1, random_state=0).fit_predict(X)
print(f"adjusted Rand index: kernel k-means {adjusted_rand_score(label, groups):.2f},", end=" ")
print(f"k-means {adjusted_rand_score(label, plain):.2f}")

# %%
# Two kernel components, coloured by digit, and which digits each group holds.

components = zonal.KernelPCA(features, n_components=2).fit_transform(X)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
dots = left.scatter(*components.T, c=label, cmap="tab10", s=4)
left.set(title="Kernel components, coloured by digit", xticks=[], yticks=[])
left.legend(*dots.legend_elements(), ncols=2, fontsize=8, loc="best")
table = confusion_matrix(label, groups)[:10, :10]
table = table[:, np.argsort(table.argmax(axis=0))]
image = right.imshow(table, cmap="Blues")
right.set(xlabel="group", ylabel="digit", yticks=range(10), xticks=[], title="Digits in groups")
figure.colorbar(image, ax=right, label="rows", shrink=0.8)
plt.show()
