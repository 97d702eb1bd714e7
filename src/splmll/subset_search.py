"""Choose a few rows of a quadratic problem by addition, removal and swap.

For a set S of rows, with symmetric moments G, moments with the targets T, a ridge and a price for
every row, the value is::

    J(S) = total + sum_{j in S} price_j - tr( T_S' (G_SS + ridge I)^-1 T_S )

the least squares error of the targets when only the rows of S may explain them. Adding j takes
||T_j||^2 / (G_jj + ridge) of what is left, and what is left loses a rank-one matrix, so one look at
all additions costs one pass over the matrices. The honest landmark selection of
:mod:`splmll.landmarks` and the hard selection of :mod:`splmll.published` are both of this form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

# A move must gain this share of everything that can be explained: less is rounding.
_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class SubsetProblem:
    """The problem; see the head of the module.

    Parameters
    ----------
    moments : ndarray of shape (n, n)
        G, positive semi-definite.
    targets : ndarray of shape (n, n_targets)
        T.
    price : ndarray of shape (n,)
        What it costs to have a row, whatever it explains.
    ridge : float
        Added to the diagonal of G.
    allowed : ndarray of bool
        Rows that may be chosen.
    total : float, default=0.0
        The value of the empty set.
    """

    moments: np.ndarray
    targets: np.ndarray
    price: np.ndarray
    ridge: float
    allowed: np.ndarray
    total: float = 0.0

    @property
    def positive_ridge(self) -> float:
        """The ridge; without one, a trace of it, for rows that others explain completely."""
        size = max(float(np.trace(self.moments)), 1e-300)
        return max(self.ridge, 1e-12 * size)


def addition_order(problem: SubsetProblem, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Add the row that gains most, again and again.

    What is left is kept as ``T - L W``, so that a step costs one product with T and the memory of
    one more row of the factors: thousands of rows are no problem.

    Parameters
    ----------
    problem : SubsetProblem
        Where prices are zero, a row never costs more than it explains.
    n_rows : int
        How many rows to add; fewer where fewer are allowed.

    Returns
    -------
    order : ndarray of int
        Rows in the order in which they were added: each set is contained in the next.
    values : ndarray of float
        J after each addition.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.subset_search import SubsetProblem, addition_order
    >>> G = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 0.5]])
    >>> problem = SubsetProblem(G, G, np.zeros(3), 0.01, np.ones(3, dtype=bool), total=2.5)
    >>> order, values = addition_order(problem, 2)
    >>> order.tolist(), values.round(2).tolist()
    ([0, 2], [0.71, 0.22])
    """
    G, T, ridge = problem.moments, problem.targets, problem.positive_ridge
    n_rows = min(n_rows, int(problem.allowed.sum()))
    size, width = T.shape
    factors = np.zeros((n_rows, size))  # rows of L'
    loads = np.zeros((n_rows, width))  # rows of W
    diagonal = np.diag(G).copy()
    squares = np.einsum("ij,ij->i", T, T)
    free = problem.allowed.copy()
    order, values, value = [], [], problem.total
    for step in range(n_rows):
        gains = np.where(free, squares / (diagonal + ridge) - problem.price, -np.inf)
        row = int(np.argmax(gains))
        free[row] = False
        order.append(row)
        value -= float(gains[row])
        values.append(value)
        pivot = diagonal[row] + ridge
        before, loaded = factors[:step], loads[:step]
        column = (G[row] - before[:, row] @ before) / np.sqrt(pivot)
        load = (T[row] - before[:, row] @ loaded) / np.sqrt(pivot)
        # ||T - column load'||^2 row by row, without writing the matrix out.
        crossed = T @ load - before.T @ (loaded @ load)
        squares = np.maximum(squares - 2 * column * crossed + column**2 * (load @ load), 0.0)
        diagonal = np.maximum(diagonal - column**2, 0.0)
        factors[step], loads[step] = column, load
    return np.asarray(order, dtype=np.intp), np.asarray(values)


class SubsetSearch:
    """Local search from one set: the best addition, removal or swap until none gains.

    ``left`` and ``targets_left`` are what the rows inside leave unexplained of G and T.

    Parameters
    ----------
    problem : SubsetProblem
        What is searched.
    start : array-like of int
        The rows to start with.

    Attributes
    ----------
    inside : ndarray of bool
        The rows chosen.
    value : float
        J of them.
    visited : list of ndarray of bool
        Every set on the way.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.subset_search import SubsetProblem, SubsetSearch
    >>> G = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 0.5]])
    >>> problem = SubsetProblem(G, G, np.zeros(3), 0.01, np.ones(3, dtype=bool), total=2.5)
    >>> search = SubsetSearch(problem, [0, 1])
    >>> search.swap_while_it_gains()
    >>> np.flatnonzero(search.inside).tolist()
    [0, 2]
    """

    def __init__(self, problem: SubsetProblem, start: object) -> None:
        self.problem = problem
        self.ridge = problem.positive_ridge
        self.left: np.ndarray
        self.targets_left: np.ndarray
        self.inside = np.zeros(len(problem.price), dtype=bool)
        self.inside[np.asarray(start, dtype=np.intp)] = True
        rows, inverse = self._refresh()
        T = problem.targets[rows]
        self.value = problem.total + float(problem.price[rows].sum() - np.sum(T * (inverse @ T)))
        size = float(np.trace(problem.moments)) + float(np.abs(problem.price).sum())
        self.tolerance = _TOLERANCE * (size + abs(problem.total) + 1e-300)
        self.visited = [self.inside.copy()]

    def grow_to(self, n_rows: int | None) -> None:
        """Add the best row until there are so many (None: while it gains)."""
        while n_rows is None or self.inside.sum() < n_rows:
            if not self.add_best(forced=n_rows is not None):
                break

    def shrink_to(self, n_rows: int | None) -> None:
        """Remove the least useful row until there are so many (None: while it gains)."""
        while n_rows is None or self.inside.sum() > n_rows:
            if not self.remove_best(forced=n_rows is not None):
                break

    def swap_while_it_gains(self) -> None:
        """Swap one row for another until no swap gains: the number stays."""
        while self.swap_best():
            pass

    def move_while_it_gains(self) -> None:
        """Add, remove and swap until nothing gains: prices decide on the number."""
        while self.add_best() or self.remove_best() or self.swap_best():
            pass

    def add_best(self, forced: bool = False) -> bool:
        """Add the row that gains most; return whether one was added."""
        free = self._free()
        if not free.any():
            return False
        squares = np.einsum("ij,ij->i", self.targets_left, self.targets_left)
        gains = squares / (np.diag(self.left) + self.ridge) - self.problem.price
        gains = np.where(free, gains, -np.inf)
        row = int(np.argmax(gains))
        if not forced and gains[row] <= self.tolerance:
            return False
        self.inside[row] = True
        column = self.left[:, row] / (self.left[row, row] + self.ridge)
        same = self.targets_left is self.left
        left = self.left - np.outer(column, self.left[row])
        self.targets_left = (
            left if same else self.targets_left - np.outer(column, self.targets_left[row])
        )
        self.left = left
        self._moved(float(gains[row]))
        return True

    def remove_best(self, forced: bool = False) -> bool:
        """Remove the row whose absence costs least; return whether one was removed."""
        if not self.inside.any():
            return False
        rows, gains, _, _ = self._removals()
        worst = int(np.argmax(gains))
        if not forced and gains[worst] <= self.tolerance:
            return False
        self.inside[rows[worst]] = False
        self._refresh()
        self._moved(float(gains[worst]))
        return True

    def swap_best(self) -> bool:
        """Swap the pair of rows that gains most; return whether one was swapped."""
        free = self._free()
        if not self.inside.any() or not free.any():
            return False
        rows, gains, in_left, in_targets = self._removals()
        # A removal adds u u' to what is left of G and u v' to what is left of T. What an addition
        # would then gain needs the norms of the rows of T, T v and v'v: no new inverse.
        T = self.targets_left
        squares, diagonal = np.einsum("ij,ij->i", T, T), np.diag(self.left)
        crossed = T @ in_targets
        grown = squares[:, None] + 2 * in_left * crossed
        grown += in_left**2 * np.einsum("ij,ij->j", in_targets, in_targets)
        after = grown / (diagonal[:, None] + in_left**2 + self.ridge)
        after += gains - self.problem.price[:, None]
        after[~free] = -np.inf
        add, remove = np.unravel_index(int(np.argmax(after)), after.shape)
        gain = float(after[add, remove])
        if gain <= self.tolerance:
            return False
        self.inside[add], self.inside[rows[remove]] = True, False
        self._refresh()
        self._moved(gain)
        return True

    def _free(self) -> np.ndarray:
        return self.problem.allowed & ~self.inside

    def _moved(self, gain: float) -> None:
        self.value -= gain
        self.visited.append(self.inside.copy())

    def _inverse(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows inside and (G + ridge I)^-1 of them."""
        rows = np.flatnonzero(self.inside)
        ridged = self.problem.moments[np.ix_(rows, rows)] + self.ridge * np.eye(len(rows))
        return rows, linalg.inv(ridged) if len(rows) else ridged

    def _refresh(self) -> tuple[np.ndarray, np.ndarray]:
        """Work out from the beginning what is left; return the rows inside and the inverse."""
        G, T = self.problem.moments, self.problem.targets
        rows, inverse = self._inverse()
        weights = G[:, rows] @ inverse
        self.left = G - weights @ G[rows]
        self.targets_left = self.left if T is G else T - weights @ T[rows]
        return rows, inverse

    def _removals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows inside, what each removal gains, and the u and v it adds."""
        rows, inverse = self._inverse()
        scaled = inverse / np.sqrt(np.diag(inverse))
        in_left = self.problem.moments[:, rows] @ scaled
        in_targets = self.problem.targets[rows].T @ scaled
        gains = self.problem.price[rows] - np.einsum("ij,ij->j", in_targets, in_targets)
        return rows, gains, in_left, in_targets
