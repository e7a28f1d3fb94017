"""What turns this tree into a release: build it, try it, and say what is inside.

`python -m release build`     wheel and sdist in dist/, built twice with the same bytes
`python -m release smoke`     install the wheel in empty environments and use it
`python -m release sbom`      the components of the base install as CycloneDX, in dist/
`python -m release licences`  the licences of every dependency, held against the accepted ones
"""
