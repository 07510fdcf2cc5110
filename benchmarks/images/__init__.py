"""Images by few wavelets, beside what a JPEG keeps and the greatest coefficients of a wavelet transform."""
