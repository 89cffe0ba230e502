"""Programs on Chebyshev models: what every result can be at all times of a piece, proven, rounding included.

A model is a polynomial of degree D in x from -1 to 1, by its Chebyshev coefficients, and a remainder: the
value is within the remainder of the polynomial at every x. Models of many pieces are computed at once.

Soundness needs no directed rounding. Every operation's rounding is bounded by gamma_m = m u / (1 - m u) times
sizes of what went into it and added to the remainder; what is lost in computing the remainder itself is
covered by making it larger by one part in 2^40. Assumed: IEEE double precision, sine and cosine within 4 ulp.
"""

from robomorph.ir.chebyshev.models import Models
from robomorph.ir.chebyshev.ranges import Bounds, bounds
from robomorph.ir.chebyshev.run import Inputs, Order, ordered, run_models

__all__ = ["Bounds", "Inputs", "Models", "Order", "bounds", "ordered", "run_models"]
