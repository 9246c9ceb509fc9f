"""Numbers as a page shows them."""


def digits(text: str) -> int:
    """Count the significant digits of a number as it is shown."""
    mantissa = text.split("e")[0].replace(",", "").replace("−", "").replace("-", "")
    return max(1, len(mantissa.replace(".", "").lstrip("0")))


def shown(value: float, like: str) -> str:
    """Write a value with as many significant digits as another number is shown with."""
    return rounded(value, digits(like), exponent="e" in like)


def rounded(value: float, count: int, *, exponent: bool = False) -> str:
    """Write a value with some significant digits.

    Examples
    --------
    >>> rounded(0.04335, 2), rounded(9.96, 2), rounded(1234.5, 4), rounded(3.7e-6, 2, exponent=True)
    ('0.043', '10', '1,234', '3.7e-6')
    """
    mantissa, power = f"{value:.{count - 1}e}".split("e")
    if exponent:
        return f"{mantissa}e{int(power)}"
    return f"{float(f'{value:.{count - 1}e}'):,.{max(0, count - 1 - int(power))}f}"
