"""The container image: its SBOM, the sizes of its parts, and the comparison of two builds."""
