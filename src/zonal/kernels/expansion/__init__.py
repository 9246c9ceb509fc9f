"""How kernels are expanded in polynomials, and where the series are cut.

- `distribution`: distributions of the radii ‖x‖;
- `series`: the series by degree and radial order, in the paper's monomials or in eigenfunctions;
- `taylor`: the Taylor series in ⟨x, y⟩ itself;
- `mercer`, `modes`: the eigenfunctions, and their values at any radius;
- `cut`, `leading`: the one place where series are cut, at the worst radius or on average;
- `zonal_sums`: sums of cut series at pairs of points.
"""
