"""Tables with words, gaps and dates: ours beside boosted trees and other kernels."""
